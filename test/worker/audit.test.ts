/** Who did what: each change of an operator's leaves a row in its transaction, which nobody changes or removes, and which holds no secret. */
import { env, exports } from "cloudflare:workers";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { auditStatement } from "../../src/audit/audit-statement.ts";
import { openDatabase, runTransaction } from "../../src/db/client.ts";
import { ACME, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

type Row = Record<string, string | number | null>;

const ACTOR = { name: "ada", role: "admin", requestId: "request-1" } as const;

beforeAll(() => importFile({ platforms: [NORTHWIND], publishers: [ACME] }));

async function rows(): Promise<Row[]> {
	return (await env.DB.prepare("SELECT * FROM audit ORDER BY id").all<Row>()).results;
}

/** What a request leaves in the audit. */
async function leaves(verb: string, body: object): Promise<{ response: Response; left: Row[] }> {
	const before = (await rows()).map(({ id }) => id);
	const response = await exports.default.fetch(`https://base.example/operator${verb}`, {
		method: "POST",
		headers: OPERATOR_HEADERS,
		body: JSON.stringify(body),
	});
	return { response, left: (await rows()).filter(({ id }) => !before.includes(id ?? "")) };
}

describe("worker: a change of keys is kept with who made it", () => {
	it.each<[string, object, object]>([
		["/keys/issue", { kind: "access_key", owner: "acme" }, { verb: "issueKeys", subject_kind: "access_key", subject_id: "acme" }],
		["/keys/rotate", { kind: "platform_key", owner: "northwind" }, { verb: "rotateKeys", subject_kind: "platform_key" }],
		[
			"/keys/rotate",
			{ kind: "publisher_identity", owner: "acme", value: "acme_2" },
			{ verb: "rotateKeys", before: '{"value":"acme_rtb"}', after: expect.stringContaining('{"value":"acme_2","others_end_at":') },
		],
		["/keys/revoke", { kind: "publisher_identity", owner: "acme" }, { verb: "revokeKeys", counts: '{"names":1}' }],
		["/keys/revoke", { kind: "publisher_key", owner: "acme" }, { verb: "revokeKeys", after: '{"id":null}', counts: '{"keys":1}' }],
	])("%s %j", async (verb, body, expected) => {
		const { response, left } = await leaves(verb, body);
		expect(response.status).toBe(200);
		expect(left).toEqual([expect.objectContaining({ actor: "operator", role: "admin", ...expected })]);
		expect(left[0]?.request_id).toBe(response.headers.get("x-request-id"));
		const { issued } = await response.json<{ issued?: { kind: string; value: string } }>();
		if (issued?.kind.endsWith("_key")) expect(JSON.stringify(await rows())).not.toContain(issued.value);
	});

	it.each<[string, object]>([
		["/keys/issue", { kind: "access_key", owner: "nobody" }],
		["/keys/revoke", { kind: "access_key", owner: "acme", id: "000000000000" }],
		["/keys/revoke", { kind: "publisher_id", owner: "acme" }],
		["/keys/list", { owner: "acme" }],
	])("what changes nothing leaves none: %s %j", async (verb, body) => {
		expect((await leaves(verb, body)).left).toEqual([]);
	});
});

describe("worker: the audit", () => {
	const db = openDatabase(env.DB);
	const entry = { verb: "issueKeys", subjectKind: "access_key", subjectId: "acme" };

	it("is written with its change or not at all", async () => {
		const before = await rows();
		const nameless = { ...entry, subjectId: null as unknown as string };
		const failing = runTransaction(db, [
			auditStatement(ACTOR, Date.now(), entry),
			sql`UPDATE publishers SET name = 'Eve' WHERE id = 'acme'`,
			auditStatement(ACTOR, Date.now(), nameless),
		]);
		await expect(failing).rejects.toThrow();
		expect(await rows()).toEqual(before);
		expect(await env.DB.prepare("SELECT name FROM publishers").all()).toMatchObject({ results: [{ name: "Acme" }] });
	});

	it.each([
		"UPDATE audit SET actor = 'eve'",
		"DELETE FROM audit WHERE verb = 'issueKeys'",
		"INSERT INTO audit SELECT * FROM audit ORDER BY id LIMIT 1",
	])("is only added to: %s", async (statement) => {
		const before = await rows();
		expect(before.length).toBeGreaterThan(0);
		await expect(env.DB.prepare(statement).run()).rejects.toThrow();
		expect(await rows()).toEqual(before);
	});
});
