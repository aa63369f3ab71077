/** What a platform may ask of its postbacks beside the key: a signature, addresses, a rate. */

import { exports } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { postbackFields, readAll } from "../../support/conversions.ts";
import { importFile } from "../../support/network-import.ts";

const SECRET = "a-secret-of-the-signing-platform";
const PLATFORMS = [
	{ id: "signing", name: "Signing", access_key: "platform-key-signing", postback_secret: SECRET },
	{ id: "ranged", name: "Ranged", access_key: "platform-key-ranged", source_ranges: ["203.0.113.0/24", "198.51.100.7", "2001:db8:1::/48"] },
	{ id: "paced", name: "Paced", access_key: "platform-key-paced", postbacks_per_minute: 3 },
];
const RECEIVED = { message: "Postback received successfully" };
const invalid = (errors: object) => ({ message: "The given data was invalid.", errors, error_code: 1 });
const SIG_INVALID = invalid({ sig: ["The sig is invalid."] });
const WRONG_ADDRESS = invalid({ request: ["The request does not come from an address of the platform."] });

const queryOf = (txnid: string, fields: Record<string, string> = {}) =>
	new URLSearchParams(postbackFields({ txnid, ...fields })).toString();
const sign = (text: string, secret = SECRET) => createHmac("sha256", secret).update(text).digest("hex");

async function call(platform: string, query: string, init: RequestInit = {}) {
	const response = await exports.default.fetch(`https://base.example/api/postback/platform-key-${platform}?${query}`, init);
	expect(response.status).toBe(200);
	return response.json();
}

const ledgerOf = (txnid: string) => readAll("SELECT platform, outcome, answer FROM postback_intake WHERE txnid = ? ORDER BY id", txnid);

async function expectRejected(platform: string, txnid: string, answer: object): Promise<void> {
	await expect
		.poll(() => ledgerOf(txnid), { timeout: 20_000 })
		.toEqual([{ platform, outcome: "rejected", answer: JSON.stringify(answer) }]);
	expect(await readAll("SELECT * FROM conversions WHERE txnid = ?", txnid)).toEqual([]);
}

beforeAll(() => importFile({ platforms: PLATFORMS }).then(() => undefined));

describe("worker: signed postbacks", () => {
	it("the signature is the HMAC-SHA-256 of the query as it is sent, without sig, wherever that stands", async () => {
		const query = queryOf("signed", { surl: "https://shop.example/a b?c=d&e" });
		const sig = sign(query);
		expect(await call("signing", `${query}&sig=${sig}`)).toEqual(RECEIVED);
		expect(await call("signing", `sig=${sig}&${query}`)).toEqual(RECEIVED);
		const [head, ...rest] = query.split("&");
		expect(await call("signing", `${head}&sig=${sig}&${rest.join("&")}`)).toEqual(RECEIVED);
	});

	it("without one the postback is rejected, and stands in the ledger so", async () => {
		const answer = invalid({ sig: ["The sig field is required."] });
		expect(await call("signing", queryOf("unsigned"))).toEqual(answer);
		await expectRejected("signing", "unsigned", answer);
		expect(await call("signing", `${queryOf("unfilled")}&sig={sig}`)).toEqual(answer);
	});

	it.each<[string, (query: string) => string]>([
		["of another text", (query) => `${query}&sig=${sign(`${query}0`)}`],
		["by another secret", (query) => `${query}&sig=${sign(query, "another-secret-of-someone")}`],
		["cut", (query) => `${query}&sig=${sign(query).slice(0, 62)}`],
		["in capitals", (query) => `${query}&sig=${sign(query).toUpperCase()}`],
		["of nothing", (query) => `${query}&sig=${sign("")}`],
		["with a field added", (query) => `${query}&payout=9&sig=${sign(query)}`],
		["with the fields in another order", (query) => `${query.split("&").reverse().join("&")}&sig=${sign(query)}`],
		["that comes second", (query) => `${query}&sig=${"0".repeat(64)}&sig=${sign(query)}`],
	])("one %s is invalid", async (name, write) => {
		const txnid = `forged ${name}`;
		expect(await call("signing", write(queryOf(txnid)))).toEqual(SIG_INVALID);
		await expectRejected("signing", txnid, SIG_INVALID);
	});

	it("of a POST it is over query and form, joined by an ampersand", async () => {
		const form = queryOf("form");
		const headers = { "content-type": "application/x-www-form-urlencoded" };
		const post = (query: string, body: string) => call("signing", query, { method: "POST", headers, body });
		expect(await post(`sig=${sign(form)}`, form)).toEqual(RECEIVED);
		expect(await post("", `${form}&sig=${sign(form)}`)).toEqual(RECEIVED);
		expect(await post(`s2=two&sig=${sign(`s2=two&${form}`)}`, form)).toEqual(RECEIVED);
		expect(await post(`s2=two&sig=${sign(form)}`, form)).toEqual(SIG_INVALID);
		expect(await post(`${form}&sig=${sign(form)}`, "payout=900")).toEqual(SIG_INVALID);
	});

	it("what is too large to be checked is rejected as such", async () => {
		expect(await call("signing", queryOf("large", { s2: "x".repeat(17_000) }))).toMatchObject({
			errors: { request: [expect.stringContaining("16384")] },
		});
	});

	it("a flood of forged ones does not fill the ledger", async () => {
		const countRows = async () => Number((await readAll("SELECT count(*) AS n FROM postback_intake WHERE txnid = 'flood'"))[0]?.n);
		for (let at = 0; at < 150; at++) expect(await call("signing", `txnid=flood&sig=${at}`)).toEqual(SIG_INVALID);
		const genuine = queryOf("after-the-flood");
		expect(await call("signing", `${genuine}&sig=${sign(genuine)}`)).toEqual(RECEIVED);
		await expect.poll(() => ledgerOf("after-the-flood"), { timeout: 20_000 }).toHaveLength(1);
		// The minute may have turned once on the way.
		expect(await countRows()).toBeLessThanOrEqual(120);
	});
});

describe("worker: addresses of a platform", () => {
	it.each(["203.0.113.9", "198.51.100.7", "::ffff:203.0.113.9", "2001:db8:1:ffff::1"])("%s is in its ranges", async (address) => {
		expect(await call("ranged", queryOf(`from ${address}`), { headers: { "CF-Connecting-IP": address } })).toEqual(RECEIVED);
	});

	it.each(["203.0.112.255", "198.51.100.8", "2001:db8:2::1", "203.0.113.9, 198.51.100.8", "nonsense"])("%s is not", async (address) => {
		const txnid = `not from ${address}`;
		expect(await call("ranged", queryOf(txnid), { headers: { "CF-Connecting-IP": address } })).toEqual(WRONG_ADDRESS);
		await expectRejected("ranged", txnid, WRONG_ADDRESS);
	});

	it("nor is one that is not known, whatever other headers say", async () => {
		expect(await call("ranged", queryOf("no address"), { headers: { "x-forwarded-for": "203.0.113.9" } })).toEqual(WRONG_ADDRESS);
	});
});

describe("worker: the rate of a platform", () => {
	it("what goes over it is to be sent again, and the first of them stands in the ledger", async () => {
		const answers = [];
		for (let at = 0; at < 10; at++) answers.push(await call("paced", queryOf(`paced ${at}`)));
		const failed = { message: "something went wrong", error_code: 2 };
		// The minute may have turned once on the way.
		const taken = answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(RECEIVED)).length;
		expect([3, 4, 5, 6]).toContain(taken);
		expect(answers.filter((answer) => JSON.stringify(answer) === JSON.stringify(failed))).toHaveLength(10 - taken);
		const rows = () => readAll("SELECT txnid FROM postback_intake WHERE outcome = 'failed' AND platform = 'paced'");
		await expect.poll(rows, { timeout: 20_000 }).not.toEqual([]);
		expect((await rows()).length).toBeLessThanOrEqual(2);
	});
});
