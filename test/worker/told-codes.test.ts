/** `openrtb.nbr`: which keys are told the code of a no-bid, from when and until when. */
import { exports } from "cloudflare:workers";
import * as v from "valibot";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { issuedSchema } from "../../src/operator/keys/keys-answers.ts";
import { loadTestNetwork, setNow } from "../support/load-network.ts";
import { OPERATOR_HEADERS } from "../support/network-import.ts";

const HOUR_MS = 3_600_000;
const START = Date.parse("2026-11-18T15:00:00Z");
const later = (hours: number) => setNow(new Date(START + hours * HOUR_MS).toISOString());
const OWNER = { kind: "access_key", owner: "options-ssp" };
const FIRST = "access-key-options-ssp";

beforeAll(async () => {
	await loadTestNetwork();
	later(0);
});
afterAll(() => {
	vi.useRealTimers();
});

async function manage(verb: "issue" | "rotate" | "revoke", body: object): Promise<string> {
	const url = `https://base.example/operator/keys/${verb}`;
	const response = await exports.default.fetch(url, {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify({ ...OWNER, ...body }),
	});
	expect(response.status).toBe(200);
	const answer = await response.json();
	return verb === "revoke" ? "" : v.parse(issuedSchema, answer).issued.value;
}

/** Which of the keys are told the code of a no-bid. */
async function told(...keys: string[]): Promise<boolean[]> {
	const codes: boolean[] = [];
	for (const AccessKey of keys) {
		const response = await exports.default.fetch("http://rtb.example/openrtb/options_rtb", {
			method: "POST",
			headers: { "content-type": "application/json", AccessKey },
			body: JSON.stringify({ id: "a", imp: [{ id: "1" }], site: { domain: "unknown.example" }, test: 1 }),
		});
		expect(response.status).toBe(204);
		const code = response.headers.get("x-nbr");
		expect([null, "502"]).toContain(code);
		codes.push(code !== null);
	}
	return codes;
}

it("a key is told from its issue until it ends, rotated out or revoked", async () => {
	expect(await told(FIRST, "access-key-options-ssp-2")).toEqual([true, false]);
	const second = await manage("issue", {});
	later(1);
	expect(await told(FIRST, second)).toEqual([true, true]);
	const third = await manage("rotate", { overlap_hours: 2 });
	later(2);
	expect(await told(FIRST, second, third)).toEqual([true, true, true]);
	later(3.01);
	expect(await told(FIRST, second, third)).toEqual([false, false, true]);
	await manage("revoke", {});
	later(4);
	expect(await told(third)).toEqual([false]);
});
