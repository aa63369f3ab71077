/** Guessing keys: it is throttled by address, costs no query where it need not, and never keeps a valid key out. */
import { env, exports } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FAILED_KEYS_LIMIT } from "../../src/http/limits.ts";
import { KEY_KINDS } from "../../src/lib/access-enums.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { hasWrongChecksum, newKey } from "../../src/lib/key-format.ts";
import { type CountedWorker, openCountedWorker } from "../support/counted-worker.ts";
import { ACME, brandEntry, faultsOf, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

const LIST = "/api/brands-list";
const KEY_INVALID = '{"message":"The given data was invalid.","errors":{"access_key":["The access key is invalid."]},"error_code":1}';
const POSTBACK = "txnid=t-1&cid=0123456789abcdef0123456789abcdef&edate=2026-11-18&payout=1";
/** More than the limit lets through, even where the simulator's minute turns on the way. */
const MANY = 2 * FAILED_KEYS_LIMIT + 100;

type Issued = { issued: { value: string } };

async function issue(kind: string, owner: string, more: object = {}): Promise<string> {
	const response = await exports.default.fetch("https://base.example/operator/keys/issue", {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify({ kind, owner, ...more }),
	});
	return (await response.json<Issued>()).issued.value;
}

/** The last characters changed, one for another. */
function mistype(key: string): string {
	return key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
}

/** Guesses until the address is refused. Returns the answer that refused it. */
async function guessUntilRefused(worker: CountedWorker, addressOf: (at: number) => string) {
	for (let at = 0; at < MANY; at++) {
		const answer = await worker.fetch(LIST, { headers: { "CF-Connecting-IP": addressOf(at), AccessKey: mistype(newKey("access_key")) } });
		if (answer.status === 429) return answer;
		expect(answer.status).toBe(401);
	}
	throw new Error(`${MANY} guesses were not refused`);
}

beforeAll(async () => {
	// An address is refused for seconds: on a busy machine they would be over before a test has looked.
	vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 5001)] });
});

afterAll(() => {
	vi.useRealTimers();
});

describe("worker: valid keys survive an attack from their own address", () => {
	it("of every kind, given or issued, though this isolate has never seen them; unknown ones are refused", async () => {
		const issued = await Promise.all([issue("access_key", "acme"), issue("publisher_key", "acme"), issue("platform_key", "northwind")]);
		const operatorKey = await issue("operator_key", "ada", { role: "viewer" });
		const worker = openCountedWorker();
		const headers = { "CF-Connecting-IP": "198.51.100.1" };
		const refused = await guessUntilRefused(worker, () => headers["CF-Connecting-IP"]);
		expect(refused.text).toBe('{"error":"Too many requests"}');
		const seconds = Number(refused.headers.get("retry-after"));
		expect(seconds).toBeGreaterThan(0);
		expect(refused.headers.get("ratelimit-policy")).toBe('"unknown-keys";q=300;w=60');
		expect(refused.headers.get("ratelimit")).toBe(`"unknown-keys";r=0;t=${seconds}`);

		for (const AccessKey of [ACME.access_key, issued[0]]) {
			expect((await worker.fetch(LIST, { headers: { ...headers, AccessKey } })).status).toBe(200);
		}
		for (const PublisherKey of [ACME.publisher_key, issued[1]]) {
			expect((await worker.fetch("/api/products/search?keyword=boots", { headers: { ...headers, PublisherKey } })).status).toBe(200);
		}
		for (const key of [NORTHWIND.access_key, issued[2]]) {
			expect((await worker.fetch(`/api/postback/${key}?${POSTBACK}`, { headers })).text).toContain("received successfully");
		}
		for (const OperatorKey of [env.OPERATOR_KEY, operatorKey]) {
			expect((await worker.fetch("/operator/status", { headers: { ...headers, OperatorKey } })).status).toBe(200);
		}

		for (const header of ["AccessKey", "PublisherKey", "OperatorKey"]) {
			expect((await worker.fetch(LIST, { headers: { ...headers, [header]: "another-guess" } })).status, header).toBe(429);
		}
		const beside = { ...headers, AccessKey: ACME.access_key, OperatorKey: "a-guess-beside-a-valid-key" };
		expect((await worker.fetch("/operator/status", { headers: beside })).status).toBe(429);
		expect((await worker.fetch(`/api/postback/another-guess?${POSTBACK}`, { headers })).text).toBe(KEY_INVALID);
		expect(
			(await worker.fetch(LIST, { headers: { ...headers, "CF-Connecting-IP": "198.51.100.2", AccessKey: "guess-elsewhere" } })).status,
		).toBe(401);
		expect((await worker.fetch("/openapi.json", { headers })).status).toBe(200);
	});

	it("a key that was revoked is unknown, and refused with the others", async () => {
		const key = await issue("access_key", "acme");
		await env.DB.prepare("UPDATE access_keys SET expires_at = 1 WHERE hash = ?")
			.bind(await sha256Hex(key))
			.run();
		const worker = openCountedWorker();
		await guessUntilRefused(worker, () => "198.51.100.3");
		expect((await worker.fetch(LIST, { headers: { "CF-Connecting-IP": "198.51.100.3", AccessKey: key } })).status).toBe(429);
	});
});

describe("worker: guesses past the limit", () => {
	it("cost a query now and then, together", async () => {
		const worker = openCountedWorker();
		await guessUntilRefused(worker, () => "198.51.100.5");
		worker.takeStatements();
		for (let at = 0; at < 100; at++) {
			await worker.fetch(LIST, { headers: { "CF-Connecting-IP": "198.51.100.5", AccessKey: `later-guess-${at}` } });
		}
		expect(worker.takeStatements().length).toBeLessThanOrEqual(3);
	});

	it("of a platform's key are answered as the interface says, and cost none of their own either", async () => {
		const worker = openCountedWorker();
		const headers = { "CF-Connecting-IP": "198.51.100.6" };
		const costs: number[] = [];
		for (let at = 0; at < MANY && (costs.at(-1) ?? 50) > 2; at++) {
			const { status, text } = await worker.fetch(`/api/postback/platform-guess-${at}?${POSTBACK}`, { headers });
			expect([status, text]).toEqual([200, KEY_INVALID]);
			if (at % 50 === 49) costs.push(worker.takeStatements().length);
		}
		expect(costs[0]).toBeGreaterThanOrEqual(50);
		expect(costs.at(-1)).toBeLessThanOrEqual(2);
		expect((await worker.fetch(`/api/postback/${NORTHWIND.access_key}?${POSTBACK}`, { headers })).text).toContain("received successfully");
	});

	it("are counted by the /64 of an IPv6 address, and in the headers and the path together", async () => {
		const worker = openCountedWorker();
		await guessUntilRefused(worker, (at) => `2001:db8:1:2:${at.toString(16)}::${(at * 7).toString(16)}`);
		const from = (address: string) => ({ headers: { "CF-Connecting-IP": address, AccessKey: "one-more-guess" } });
		expect((await worker.fetch(LIST, from("2001:db8:1:2:ffff:ffff:ffff:ffff"))).status).toBe(429);
		expect((await worker.fetch(LIST, from("2001:db8:1:3::1"))).status).toBe(401);
		worker.takeStatements();
		await worker.fetch(`/api/postback/guess-in-the-path?${POSTBACK}`, { headers: { "CF-Connecting-IP": "2001:db8:1:2::9" } });
		expect(worker.takeStatements()).toEqual([]);
	});

	it("a request without a key is no guess", async () => {
		const worker = openCountedWorker();
		for (let at = 0; at < FAILED_KEYS_LIMIT + 10; at++) {
			expect((await worker.fetch(LIST, { headers: { "CF-Connecting-IP": "198.51.100.8" } })).status).toBe(401);
		}
		expect((await worker.fetch(LIST, { headers: { "CF-Connecting-IP": "198.51.100.8", AccessKey: "first-guess" } })).status).toBe(401);
	});
});

describe("worker: the checksum of keys", () => {
	it.each(KEY_KINDS)("a mistyped %s asks no database", async (kind) => {
		const worker = openCountedWorker();
		await worker.fetch("/openapi.json");
		worker.takeStatements();
		for (let at = 0; at < 20; at++) {
			const key = mistype(newKey(kind));
			expect(hasWrongChecksum(key)).toBe(true);
			expect((await worker.fetch(LIST, { headers: { AccessKey: key } })).status).toBe(401);
			expect((await worker.fetch("/api/products/search?keyword=boots", { headers: { PublisherKey: key } })).status).toBe(401);
			expect((await worker.fetch(`/api/postback/${key}?${POSTBACK}`)).text).toBe(KEY_INVALID);
		}
		expect(worker.takeStatements()).toEqual([]);
	});

	it("is right for every key that is issued", () => {
		for (const kind of KEY_KINDS) for (let at = 0; at < 100; at++) expect(hasWrongChecksum(newKey(kind))).toBe(false);
	});

	it.each(["access-key-acme", "ak_chosen-by-the-operator", "ak_0123456789abcdefghijklmnopqrstuv", `xx_${"a".repeat(38)}`])(
		"%s has none: it is a key like any other",
		async (key) => {
			expect(hasWrongChecksum(key)).toBe(false);
			await env.DB.prepare(
				"INSERT INTO access_keys (hash, kind, owner_id, created_at) VALUES (?, 'access_key', 'acme', 0) ON CONFLICT DO NOTHING",
			)
				.bind(await sha256Hex(key))
				.run();
			expect((await openCountedWorker().fetch(LIST, { headers: { AccessKey: key } })).status).toBe(200);
		},
	);

	it("a network file cannot bring a key that would never work", async () => {
		const { faults } = await faultsOf({ publishers: [{ ...ACME, access_key: `ak_${"a".repeat(38)}` }] });
		expect(faults).toEqual([{ path: "publishers[0].access_key", message: "looks like a key that was issued here, but is mistyped" }]);
	});
});
