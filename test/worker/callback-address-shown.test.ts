/** A publisher's callback address may have a secret in it: who cannot change it does not see that, wherever it is shown. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { OPERATOR_ROLES, type OperatorRole } from "../../src/lib/access-enums.ts";
import { get, shown, signIn } from "../support/console.ts";
import { setNow } from "../support/load-network.ts";
import { ACME, faultsOf, importFile, NORTHWIND, OPERATOR_HEADERS, postNetwork } from "../support/network-import.ts";

const SECRET = "s3cr3t-of-acme";
const OTHER = "an0ther-of-acme";
const addressWith = (secret: string) => `https://acme.example/s2s?token=${secret}&sum={payout}`;
const MASKED = addressWith("***");
const keys = new Map<OperatorRole, string>();

async function ask(path: string, role: OperatorRole): Promise<string> {
	const response = await exports.default.fetch(`https://base.example/operator/${path}`, { headers: { OperatorKey: keys.get(role) ?? "" } });
	expect(response.status).toBe(200);
	return response.text();
}

const stored = () => env.DB.prepare("SELECT callback_url FROM publishers WHERE id = 'acme'").first<string>("callback_url");
const imports = async () => JSON.parse(await ask("network/imports", "admin")) as { data: { id: string }[] };

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	await importFile({ platforms: [NORTHWIND], publishers: [{ ...ACME, callback_url: addressWith(SECRET) }] });
	await importFile({ publishers: [{ id: "acme", callback_url: addressWith(OTHER) }] });
	for (const role of OPERATOR_ROLES) {
		const body = JSON.stringify({ kind: "operator_key", owner: role, role });
		const response = await exports.default.fetch("https://base.example/operator/keys/issue", {
			method: "POST",
			headers: OPERATOR_HEADERS,
			body,
		});
		keys.set(role, (await response.json<{ issued: { value: string } }>()).issued.value);
	}
});

describe("worker: a secret in a callback address", () => {
	it.each(["viewer", "finance"] as const)("is not shown to a %s, who sees the rest of it", async (role) => {
		const [{ id = "" } = {}] = (await imports()).data;
		const shownIn: Record<string, string> = {};
		for (const path of ["publishers", "publishers/acme", "network", `network/imports/${id}`, "audit"]) {
			shownIn[path] = await ask(path, role);
		}
		const visitor = await signIn({ staff: role, role });
		for (const path of ["publishers", "publishers/acme", `imports/${id}`, "audit"]) {
			const page = await shown(get(`/console/operator/${path}`, visitor));
			expect(page.status, path).toBe(200);
			shownIn[`console ${path}`] = page.text;
		}
		for (const [place, text] of Object.entries(shownIn)) {
			for (const secret of [SECRET, OTHER]) expect(text, place).not.toContain(secret);
			if (place !== "console publishers") expect(text, place).toContain("https://acme.example/s2s?token=***");
		}
	});

	it.each(["manager", "admin"] as const)("is shown to a %s, who may change it, but in the audit, which is kept for good", async (role) => {
		const [{ id = "" } = {}] = (await imports()).data;
		for (const path of ["publishers", "publishers/acme", "network", `network/imports/${id}`])
			expect(await ask(path, role)).toContain(OTHER);
		expect(await ask("audit", role)).not.toContain(OTHER);
		const kept = await env.DB.prepare("SELECT before, after FROM audit WHERE subject_id = 'acme'").all();
		expect(JSON.stringify(kept.results)).not.toMatch(new RegExp(`${SECRET}|${OTHER}`));
		expect(JSON.stringify(kept.results)).toContain(MASKED);
	});

	it("in a row of the audit that an earlier version wrote is not shown", async () => {
		await env.DB.prepare(
			"INSERT INTO audit (id, at, actor, role, verb, subject_kind, subject_id, before, after, request_id) VALUES ('0000', 1, 'ada', 'admin', 'importNetwork', 'publisher', 'acme', ?, ?, 'r')",
		)
			.bind(
				JSON.stringify({ callback_url: `"${addressWith("x".repeat(600)).slice(0, 499)}…` }),
				JSON.stringify({ callback_url: addressWith(SECRET) }),
			)
			.run();
		const text = await ask("audit", "admin");
		expect(text).not.toMatch(new RegExp(`${SECRET}|xxxx`));
	});

	it("stays where a viewer's export is imported as it is, and where its entry is sent back", async () => {
		const exported = await ask("network", "viewer");
		expect(exported).toContain(MASKED);
		const answer = await postNetwork(exported);
		expect([answer.status, await answer.json()]).toMatchObject([200, { difference: { added: 0, changed: 0, removed: 0 } }]);
		const response = await exports.default.fetch("https://base.example/operator/publishers/acme", {
			method: "PATCH",
			headers: OPERATOR_HEADERS,
			body: JSON.stringify({ callback_url: MASKED, name: "Acme Two" }),
		});
		expect(response.status).toBe(200);
		expect(await stored()).toBe(addressWith(OTHER));
	});

	it("that is hidden is no address for anyone else", async () => {
		const message = "has *** in the place of what may be a secret: give the whole address, or leave the field out to keep the stored one";
		for (const entry of [
			{
				...ACME,
				id: "new",
				publisher_id: "7001",
				publisher_identity: "new_rtb",
				access_key: "another-access-key",
				publisher_key: "another-publisher-key",
				callback_url: MASKED,
			},
			{ id: "acme", callback_url: "https://acme.example/elsewhere?token=***" },
		]) {
			expect((await faultsOf({ publishers: [entry] })).faults).toEqual([{ path: "publishers[0].callback_url", message }]);
		}
		expect(await stored()).toBe(addressWith(OTHER));
	});
});
