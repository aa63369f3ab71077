/** Signed callbacks: Standard Webhooks' own library takes them, by the old secret and the new one while both are valid. */
import { createScheduledController } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { Webhook } from "standardwebhooks";
import * as v from "valibot";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { resealSecrets } from "../../../src/callbacks/callback-secrets.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { wrapD1 } from "../../../src/db/wrap-d1.ts";
import { SecretBox } from "../../../src/lib/secret-box.ts";
import { credentialsSchema, issuedSchema, type NewCredential } from "../../../src/operator/keys/keys-answers.ts";
import worker from "../../../src/worker.ts";
import { Outbox } from "../../support/callback-outbox.ts";
import { type ReceivedCall, receivedCalls, receiverUrl } from "../../support/callback-receiver.ts";
import { rowsOf } from "../../support/click-messages.ts";
import { ON_BOTH, ON_D1 } from "../../support/engine.ts";
import { OPERATOR_HEADERS } from "../../support/network-import.ts";

const RING = env.TOKEN_KEYS.split(",");

async function ask(verb: string, body: object): Promise<unknown> {
	const request = { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify({ kind: "callback_secret", ...body }) };
	const response = await exports.default.fetch(`https://base.example/operator/keys/${verb}`, request);
	expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
	return response.json();
}

const make = async (verb: "issue" | "rotate", body: object): Promise<NewCredential> => v.parse(issuedSchema, await ask(verb, body)).issued;

/** Deliveries of one publisher, at the time of the library's own clock. */
class Publisher {
	readonly outbox = new Outbox();
	readonly id: string;

	constructor(id: string) {
		this.id = id;
	}

	async begin(query = ""): Promise<void> {
		this.outbox.now = Date.now();
		await this.outbox.addPublisher(this.id, `${receiverUrl("ok", this.id)}${query}`);
	}

	/** The call that arrives for a new callback. */
	async hear(txnid: string): Promise<ReceivedCall & { id: string }> {
		this.outbox.now = Date.now();
		const id = await this.outbox.add(this.id, txnid);
		await this.outbox.work();
		const call = (await receivedCalls(this.id)).at(-1);
		if (call === undefined) throw new Error("nothing arrived");
		return { ...call, id };
	}
}

const headersOf = ({ headers }: ReceivedCall) => headers as Record<string, string>;
const isTakenBy = (secret: string, call: ReceivedCall): boolean => {
	try {
		new Webhook(secret).verify(call.url, headersOf(call), { jsonParse: false });
		return true;
	} catch {
		return false;
	}
};

describe("worker: signed callbacks", () => {
	const publisher = new Publisher("signed");
	let first: NewCredential;

	beforeAll(async () => {
		await publisher.begin("?token={subid1}&tx={txnid}&é=ü'");
		expect(headersOf(await publisher.hear("unsigned"))).not.toHaveProperty("webhook-signature");
		first = await make("issue", { owner: publisher.id });
	});

	it("are taken by the standard's library, as long as nothing of them is changed", async () => {
		expect(first.value).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
		const call = await publisher.hear("T 1/2");
		expect(headersOf(call)["webhook-id"]).toBe(call.id);
		expect(headersOf(call)["idempotency-key"]).toBe(call.id);
		expect(isTakenBy(first.value, call)).toBe(true);
		expect(isTakenBy(first.value, { ...call, url: call.url.replace("8.4000", "9.4000") })).toBe(false);
		expect(isTakenBy(first.value, { ...call, headers: { ...call.headers, "webhook-id": "another" } })).toBe(false);
		expect(isTakenBy(`whsec_${btoa("x".repeat(32))}`, call)).toBe(false);
	});

	it("carry both signatures while a rotated secret is still valid, and one after it", async () => {
		const second = await make("rotate", { owner: publisher.id, overlap_hours: 1 });
		const call = await publisher.hear("overlap");
		expect(headersOf(call)["webhook-signature"]?.split(" ")).toHaveLength(2);
		expect([first, second].map(({ value }) => isTakenBy(value, call))).toEqual([true, true]);
		const { keys } = v.parse(credentialsSchema, await ask("list", { owner: publisher.id }));
		expect(keys.map(({ id, state }) => [id, state])).toEqual([
			[second.id, "valid"],
			[first.id, "ending"],
		]);
		await ask("revoke", { owner: publisher.id, id: first.id });
		const later = await publisher.hear("after");
		expect([first, second].map(({ value }) => isTakenBy(value, later))).toEqual([false, true]);
		await ask("revoke", { owner: publisher.id });
		expect(headersOf(await publisher.hear("no more"))).not.toHaveProperty("webhook-signature");
	});

	it("a test is signed like any other", async () => {
		const { value } = await make("issue", { owner: publisher.id });
		const request = { method: "POST", headers: OPERATOR_HEADERS, body: JSON.stringify({ publisher: publisher.id }) };
		// The Worker under test calls no insecure address; its own test of one is test/e2e's.
		expect((await exports.default.fetch("https://base.example/operator/callbacks/test", request)).status).toBe(422);
		const { testCallback } = await import("../../../src/callbacks/test-callback.ts");
		await testCallback({ ...publisher.outbox.deps, now: Date.now }, { publisher: publisher.id });
		const call = (await receivedCalls(publisher.id)).at(-1);
		expect(call && isTakenBy(value, call)).toBe(true);
	});

	it("secrets are stored sealed, for their publisher, and by the newest key in the end", async () => {
		const { value, id } = await make("issue", { owner: publisher.id });
		const [row] = await rowsOf<{ sealed: string }>("SELECT * FROM callback_secrets WHERE id = ?", id);
		expect(JSON.stringify(row)).not.toContain(value.slice(6, 20));
		const box = new SecretBox(RING);
		const sealed = row?.sealed ?? "";
		expect(await box.open(sealed, publisher.id)).toBe(value);
		expect(await box.open(sealed, "another")).toBeNull();
		for (const other of ["", "AA", sealed.slice(0, -2), `${sealed.slice(0, -3)}AAA`])
			expect(await box.open(other, publisher.id)).toBeNull();
		expect(await new SecretBox(["another key"]).open(sealed, publisher.id)).toBeNull();
		const rotated = new SecretBox(["a newer key", ...RING]);
		await resealSecrets({ db: openDatabase(env.DB), box: rotated });
		const call = await publisher.hear("unreadable by the old ring");
		expect(headersOf(call)).not.toHaveProperty("webhook-signature");
		const [resealed] = await rowsOf<{ sealed: string }>("SELECT * FROM callback_secrets WHERE id = ?", id);
		expect(await new SecretBox(["a newer key"]).open(resealed?.sealed ?? "", publisher.id)).toBe(value);
		await resealSecrets({ db: openDatabase(env.DB), box: new SecretBox([...RING, "a newer key"]) });
		expect(isTakenBy(value, await publisher.hear("and sealed back"))).toBe(true);
	});

	it("a new key seals them in its first minute, or in the next where that fails, however many there are", async () => {
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		const newer = "a newer key of thirty-two characters";
		const run = (DB: D1Database) =>
			worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), {
				...env,
				DB,
				TOKEN_KEYS: [newer, ...RING].join(","),
			});
		const box = new SecretBox(RING);
		const many = await Promise.all(
			Array.from({ length: 150 }, async (_, at) => [`many-${at}`, await box.seal("whsec_a", "many")] as const),
		);
		const add = "INSERT INTO callback_secrets (id, publisher_id, sealed, created_at) VALUES (?, 'many', ?, 0)";
		await env.DB.batch(many.map((secret) => env.DB.prepare(add).bind(...secret)));
		const lacking = async () => {
			const rows = await rowsOf<{ sealed: string }>("SELECT sealed FROM callback_secrets");
			const areNew = await Promise.all(rows.map(({ sealed }) => new SecretBox([newer]).isOfNewestKey(sealed)));
			return areNew.filter((isNew) => !isNew).length;
		};
		const refusing = wrapD1(env.DB, (statements) => {
			if (statements.some((text) => text.includes("UPDATE callback_secrets"))) throw new Error("D1_ERROR: busy");
		});
		// PostgreSQL has a binding of its own, which nothing stands before.
		if (ON_D1 || ON_BOTH) await expect(run(refusing)).rejects.toThrow("secrets");
		const before = await lacking();
		await run(env.DB);
		expect(await lacking()).toBe(before - 100);
		await run(env.DB);
		expect(await lacking()).toBe(0);
		await env.DB.prepare("DELETE FROM callback_secrets WHERE publisher_id = 'many'").run();
		await resealSecrets({ db: openDatabase(env.DB), box: new SecretBox([...RING, newer]) });
		log.mockRestore();
	});
});

describe("worker: macros of callbacks", () => {
	it("what a conversion's link brought is filled in, and sales where they may be seen", async () => {
		const publisher = new Publisher("macros");
		await publisher.begin("?d={domain}&s={sales}&src={source}&one={subid1}&five={subid5}&tx={txnid}");
		await env.DB.batch([
			env.DB.prepare(
				"INSERT INTO brands (id, domain, name, active, marketplace, new_deal, aliases, restricted_traffic, traffic_types, blocked_countries) VALUES (901, 'shoes.example', 'S', 1, 0, 0, '[]', '[]', '[]', '[]')",
			),
			env.DB.prepare(
				"INSERT INTO clicks (id, click_hash, kind, clicked_at, brand_id, campaign_id, bid_micros, revenue_micros, written_by, subid1) VALUES ('019a0000-0000-7000-8000-000000000001', 'h', 'link', ?, 901, 1, 0, 0, 'test', 'a b')",
			).bind(Date.parse("2025-10-20T00:00:00Z")),
			env.DB.prepare(
				"INSERT INTO conversions (platform, txnid, cid, stage, status, status_unknown, test, event_at, payout_micros, currency, event_count, first_received_at, updated_at, publisher_id, brand_id, click_id, source_id) VALUES ('macros', 'linked', 'c', 'settled', 'approved', 0, 0, 0, 0, 'USD', 1, 0, 0, 'macros', 901, '019a0000-0000-7000-8000-000000000001', 'src-1')",
			),
		]);
		const id = await publisher.outbox.add(publisher.id, "linked", 1, "approved", false);
		await env.DB.prepare("UPDATE callbacks SET sales_usd_micros = 99500000 WHERE id = ?").bind(id).run();
		const hear = async () => {
			await env.DB.prepare("UPDATE callbacks SET state = 'due', next_attempt_at = 0, queued_until = 0 WHERE id = ?").bind(id).run();
			await publisher.outbox.sweep();
			await publisher.outbox.work();
			return Object.fromEntries(new URL((await receivedCalls(publisher.id)).at(-1)?.url ?? "", "http://receiver").searchParams);
		};
		const link = { d: "shoes.example", src: "src-1", one: "a b", five: "", tx: "linked", cid: "click 1", payout: "8.4000" };
		expect(await hear()).toMatchObject({ ...link, s: "" });
		await env.DB.prepare("UPDATE publishers SET sales_data_enabled = 1 WHERE id = 'macros'").run();
		const heard = await hear();
		expect(heard).toMatchObject({ ...link, s: "99.5000" });
		expect(heard).not.toHaveProperty("txnid");
		// An operator found it to be of another publisher's click, of which this one hears nothing.
		await env.DB.prepare("UPDATE conversions SET publisher_id = 'another' WHERE txnid = 'linked'").run();
		expect(await hear()).toMatchObject({ ...link, d: "", src: "", one: "", s: "99.5000" });
	});
});
