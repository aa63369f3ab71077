/** Postbacks while the database does not answer: each is answered in time, and known keys wait for it once. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { PostbackBatcher } from "../../../src/conversions/postback-batcher.ts";
import { type PostbackDeps, routePostback } from "../../../src/conversions/postback-route.ts";
import { UnknownKeyLimit } from "../../../src/conversions/unknown-key-limit.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { FailedKeys, type FailedKeysDeps } from "../../../src/http/failed-keys.ts";
import { KEY_KEPT_MS, KeyOwners } from "../../../src/keys/key-owners.ts";
import { within } from "../../../src/lib/async.ts";
import { PerMinute } from "../../../src/lib/per-minute.ts";
import { importConversionNetwork, postbackFields, WEST_KEY } from "../../support/conversions.ts";
import { timed } from "../../support/timed.ts";

const RECEIVED = { message: "Postback received successfully" };
const KEY_INVALID = { message: "The given data was invalid.", errors: { access_key: ["The access key is invalid."] }, error_code: 1 };
const forEver = () => new Promise<never>(() => {});

/** The endpoint of one isolate, and what it has queued. */
function open(changes: Partial<PostbackDeps> = {}, failedKeysLimit?: FailedKeysDeps["limit"]) {
	vi.spyOn(console, "error").mockImplementation(() => {});
	const at = { ahead: 0, silence: null as Promise<unknown> | null };
	const now = () => Date.now() + at.ahead;
	const prepare: D1Database["prepare"] = (query) => {
		const statement = env.DB.prepare(query);
		const { silence } = at;
		if (silence === null) return statement;
		const bind = (...values: unknown[]) => {
			const bound = statement.bind(...values);
			return { raw: () => silence.then(() => bound.raw()), all: () => silence.then(() => bound.all()) };
		};
		return { bind } as unknown as D1PreparedStatement;
	};
	const db = openDatabase({ prepare, batch: (all: D1PreparedStatement[]) => env.DB.batch(all) } as D1Database);
	const keys = new KeyOwners({ db, now });
	const sent: unknown[] = [];
	const queue = {
		send: async (message: unknown) => void sent.push(message),
		sendBatch: async (messages: Iterable<{ body: unknown }>) => void sent.push(...Array.from(messages, ({ body }) => body)),
	} as unknown as Queue;
	const deps: PostbackDeps = {
		db,
		now,
		keys,
		postbacks: new PostbackBatcher(queue),
		callbacks: undefined,
		failedKeys: new FailedKeys({ now, limit: failedKeysLimit }),
		unknownKeys: new UnknownKeyLimit(),
		perMinute: new PerMinute(),
		...changes,
	};
	const background: Promise<unknown>[] = [];
	const call = async (txnid: string, key = WEST_KEY): Promise<unknown> => {
		const query = new URLSearchParams(postbackFields({ txnid })).toString();
		const headers = { "CF-Connecting-IP": "203.0.113.9" };
		const request = new Request(`https://base.example/api/postback/${key}?${query}`, { headers });
		const response = await routePostback(deps, request, (promise) => void background.push(promise));
		return response?.json();
	};
	return { at, keys, sent, background, call };
}

/** What is answered, by a clock of its own, within so many seconds. */
async function inTime(ask: () => Promise<unknown>, most = 3): Promise<unknown> {
	const [answer, seconds] = await timed(ask, 150);
	return seconds > most ? "kept waiting" : answer;
}

describe("worker: postbacks while the database does not answer", () => {
	beforeAll(importConversionNetwork);

	/** An endpoint that knows the platform's key, and must look it up again now. */
	async function openKnowing() {
		const opened = open();
		expect(await opened.call("known")).toEqual(RECEIVED);
		await Promise.all(opened.background.splice(0));
		opened.at.ahead += KEY_KEPT_MS;
		opened.sent.length = 0;
		return opened;
	}

	it("one of a key that was known within the hour is its platform's, and the next ones do not wait", async () => {
		const { at, sent, call } = await openKnowing();
		at.silence = forEver();
		expect(await inTime(() => call("silent-1"))).toEqual(RECEIVED);
		at.ahead += 1_000;
		for (const txnid of ["silent-2", "silent-3"]) expect(await inTime(() => call(txnid), 1)).toEqual(RECEIVED);
		expect(sent).toMatchObject(Array(3).fill({ kind: "postback", intake: { platform: "west" } }));
	});

	it("one whose key was known longer ago is claimed later", async () => {
		const { at, sent, call } = await openKnowing();
		at.silence = forEver();
		at.ahead += 3_600_001;
		expect(await inTime(() => call("silent-old"))).toEqual(RECEIVED);
		expect(sent).toMatchObject([{ kind: "unclaimed" }]);
	});

	it("the look-up goes on behind the answer, and what it finds holds", async () => {
		const { at, background, call } = await openKnowing();
		const silence = Promise.withResolvers<void>();
		at.silence = silence.promise;
		expect(await inTime(() => call("silent-until"))).toEqual(RECEIVED);
		const held = background.splice(0);
		expect(await within(Promise.all(held), 100, "under way")).toBe("under way");
		at.silence = null;
		await env.DB.prepare("UPDATE access_keys SET expires_at = 1 WHERE kind = 'platform_key' AND owner_id = 'west'").run();
		try {
			silence.resolve();
			await Promise.all(held);
			at.silence = forEver();
			expect(await inTime(() => call("revoked"), 1)).toEqual(KEY_INVALID);
		} finally {
			await env.DB.prepare("UPDATE access_keys SET expires_at = NULL WHERE kind = 'platform_key' AND owner_id = 'west'").run();
		}
	});

	it("and its late failure is no one's fault", async () => {
		const { at, background, call, sent } = open();
		const silence = Promise.withResolvers<void>();
		at.silence = silence.promise;
		expect(await inTime(() => call("never-seen"))).toEqual(RECEIVED);
		silence.reject(new Error("D1_ERROR: away"));
		await Promise.all(background);
		expect(sent).toMatchObject([{ kind: "unclaimed" }]);
	});

	it("nor does an address with many failed keys wait longer", async () => {
		const { at, sent, call } = open({}, { limit: async () => ({ success: false }) });
		expect(await call("guess", "not-a-key-of-anybody")).toEqual(KEY_INVALID);
		sent.length = 0;
		at.silence = forEver();
		expect(await inTime(() => call("silent-address"))).toEqual(RECEIVED);
		expect(sent).toMatchObject([{ kind: "unclaimed" }]);
	});

	it("nor where it cannot be told whether another database has the keys", async () => {
		const { sent, call } = open({ areKeysElsewhere: forEver });
		expect(await inTime(() => call("silent-elsewhere", "not-a-key-of-anybody"))).toEqual(RECEIVED);
		expect(sent).toMatchObject([{ kind: "unclaimed" }]);
	});

	it("nor for whose key it once was", async () => {
		const { keys } = open();
		const silent = {
			findPlatform: async () => null,
			findFormerPlatform: forEver,
			mayBeValid: (key: string) => keys.mayBeValid(key),
			trustPlatform: async () => null,
		};
		const { call } = open({ keys: silent });
		expect(await inTime(() => call("silent-former"))).toEqual(KEY_INVALID);
	});
});
