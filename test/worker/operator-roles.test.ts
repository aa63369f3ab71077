/** Operator keys: each opens what its role may do, as each operation declares it, and nothing else. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { OPERATOR_API } from "../../src/api-docs/operations/all.ts";
import type { OperatorRole } from "../../src/lib/access-enums.ts";
import { OPERATOR_ROLES } from "../../src/lib/access-enums.ts";
import { utf8 } from "../../src/lib/utf8.ts";
import { openCountedWorker } from "../support/counted-worker.ts";
import { setNow } from "../support/load-network.ts";
import { ACME, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";

const START = "2026-11-18T15:00:00Z";
const MINUTE_MS = 60_000;
const later = (ms: number) => setNow(new Date(Date.parse(START) + ms).toISOString());

type Issued = { issued: { id: string; value: string; role: OperatorRole; ends_at: string | null } };
type Listed = { keys: { id: string; state: string; role?: OperatorRole; last_used_at?: string | null }[] };

function ask(method: string, path: string, key: string | undefined, body?: object): Promise<Response> {
	return exports.default.fetch(`https://base.example${path}`, {
		method,
		headers: key === undefined ? {} : { OperatorKey: key },
		...(body !== undefined && { body: JSON.stringify(body) }),
	});
}

const keysVerb = (verb: string, body: object, key = OPERATOR_HEADERS.OperatorKey) => ask("POST", `/operator/keys/${verb}`, key, body);

async function issue(owner: string, role: OperatorRole, more: object = {}): Promise<Issued["issued"]> {
	const response = await keysVerb("issue", { kind: "operator_key", owner, role, ...more });
	expect(response.status).toBe(200);
	return (await response.json<Issued>()).issued;
}

const keysOf = async (owner: string) => (await (await keysVerb("list", { kind: "operator_key", owner })).json<Listed>()).keys;
const statusWith = async (key: string) => (await ask("GET", "/operator/status", key)).status;

const keys = new Map<OperatorRole, string>();

beforeAll(async () => {
	setNow(START);
	await importFile({ platforms: [NORTHWIND], publishers: [ACME] });
	for (const role of OPERATOR_ROLES) keys.set(role, (await issue(`${role}@example.com`, role)).value);
});

/** Whom a role lets do what takes another. */
const MAY: Record<OperatorRole, readonly OperatorRole[]> = {
	viewer: ["viewer", "manager", "finance", "admin"],
	manager: ["manager", "admin"],
	finance: ["finance", "admin"],
	admin: ["admin"],
};

describe("worker: an operation opens to the roles that it declares", () => {
	const operations = OPERATOR_API.operations.filter(({ credential }) => credential === "OperatorKey");

	it.each(operations.map(({ method, path, role }) => [method.toUpperCase(), path, role ?? "admin"] as const))(
		"%s %s takes %s",
		async (method, template, role) => {
			const path = template.replaceAll(/\{\w+\}/g, "nothing");
			// No verb takes a list: what is let through changes nothing.
			const body = method === "GET" ? undefined : [];
			for (const key of [undefined, "", "another-key-than-these", ACME.access_key]) {
				const refused = await ask(method, path, key, body);
				expect([refused.status, await refused.json()]).toEqual([401, { error: "Unauthorized" }]);
			}
			for (const held of OPERATOR_ROLES) {
				const response = await ask(method, path, keys.get(held), body);
				if (MAY[role].includes(held)) {
					expect([401, 403], held).not.toContain(response.status);
					await response.body?.cancel();
				} else {
					const message = `The key of ${held}@example.com has the role ${held}; this takes the role ${role}.`;
					expect([response.status, await response.json()], held).toEqual([403, { error: "Forbidden", message }]);
				}
			}
		},
	);

	it.each([
		["POST", "/operator/keys/issue/"],
		["POST", "/operator//keys/issue"],
		["GET", "/operator/nothing"],
	])("%s %s, which nobody declares, is not there, whatever the key", async (method, path) => {
		for (const key of [...keys.values(), OPERATOR_HEADERS.OperatorKey]) expect((await ask(method, path, key)).status).toBe(404);
		expect((await ask(method, path, undefined)).status).toBe(401);
	});

	it.each([
		["DELETE", "/operator/network", "GET, HEAD, POST"],
		["POST", "/operator/status", "GET, HEAD"],
		["GET", "/operator/keys/issue", "POST"],
		["PUT", "/operator/campaigns/1", "GET, HEAD, PATCH"],
		["OPTIONS", "/operator/conversions/northwind/t-1/void", "POST"],
	])("%s %s, of which another method is declared, is 405 with Allow, whatever the key", async (method, path, allow) => {
		for (const key of [...keys.values(), OPERATOR_HEADERS.OperatorKey]) {
			const response = await ask(method, path, key);
			expect([response.status, response.headers.get("allow"), await response.json()]).toEqual([
				405,
				allow,
				{ error: "Method not allowed" },
			]);
		}
		expect((await ask(method, path, undefined)).status).toBe(401);
	});

	it("a path that is written otherwise is no way round a role", async () => {
		for (const path of ["/operator/keys/%69ssue", "/operator/./keys/issue", "/operator/x/../keys/issue", "/OPERATOR/keys/issue"]) {
			const response = await ask("POST", path, keys.get("viewer"), { kind: "access_key", owner: "acme" });
			expect([403, 404], path).toContain(response.status);
		}
	});

	it("HEAD opens as GET does", async () => {
		expect((await ask("HEAD", "/operator/audit", keys.get("viewer"))).status).toBe(200);
		expect((await ask("HEAD", "/operator/audit", "another-key-than-these")).status).toBe(401);
	});
});

describe("worker: a viewer cannot make itself more", () => {
	it("a manager's file has keys of new owners, and does not replace those that there are", async () => {
		const fresh = { ...ACME, id: "roles-new", name: "New", publisher_id: "7001", publisher_identity: "roles_new" };
		const given = { access_key: "an-access-key-of-new", publisher_key: "a-publisher-key-of-new" };
		const send = (method: string, path: string, body: object, role: OperatorRole) => ask(method, `/operator/${path}`, keys.get(role), body);
		expect((await send("POST", "network", { publishers: [{ ...fresh, ...given }, ACME], platforms: [NORTHWIND] }, "manager")).status).toBe(
			200,
		);
		const others = {
			access_key: "another-access-key",
			publisher_key: "another-publisher-key",
			publisher_id: "7002",
			publisher_identity: "r_2",
		};
		const refused = await send("PATCH", "publishers/roles-new", others, "manager");
		expect([refused.status, (await refused.json<{ faults: { path: string }[] }>()).faults.map(({ path }) => path).sort()]).toEqual([
			422,
			Object.keys(others).sort(),
		]);
		const platform = { ...NORTHWIND, access_key: "another-platform-key" };
		expect((await send("POST", "network", { platforms: [platform] }, "manager")).status).toBe(422);
		expect((await send("PATCH", "publishers/roles-new", others, "admin")).status).toBe(200);
	});

	it("nor does it replace or clear a platform's secret, by which postbacks are told from what others make up", async () => {
		const secretIs = (postback_secret: string | null, role: OperatorRole) =>
			ask("PATCH", "/operator/platforms/northwind", keys.get(role), { postback_secret });
		expect((await secretIs("the-first-secret-of-it", "manager")).status).toBe(200);
		for (const other of ["another-secret-of-it", null]) {
			const refused = await secretIs(other, "manager");
			expect([refused.status, (await refused.json<{ faults: object[] }>()).faults]).toEqual([
				422,
				[{ path: "postback_secret", message: expect.stringContaining("takes the role admin") }],
			]);
		}
		expect((await ask("PATCH", "/operator/platforms/northwind", keys.get("manager"), { name: "North Wind" })).status).toBe(200);
		expect((await secretIs("another-secret-of-it", "admin")).status).toBe(200);
		expect((await secretIs(null, "admin")).status).toBe(200);
	});

	it("nor does its undo put back a secret that an admin has removed", async () => {
		const change = async (postback_secret: string | null) =>
			(await ask("PATCH", "/operator/platforms/northwind", keys.get("admin"), { postback_secret })).json<{ id: string }>();
		const secretNow = () => env.DB.prepare("SELECT postback_secret FROM platforms WHERE id = 'northwind'").first("postback_secret");
		await change("a-secret-that-leaked");
		const { id } = await change(null);
		const undo = (role: OperatorRole, query = "") => ask("POST", `/operator/network/undo${query}`, keys.get(role), { import: id });
		for (const query of ["?dry_run=1", "", "?yes=1"]) {
			const refused = await undo("manager", query);
			expect([refused.status, (await refused.json<{ faults: object[] }>()).faults]).toEqual([
				422,
				[{ path: "platforms northwind.postback_secret", message: expect.stringContaining("takes the role admin") }],
			]);
		}
		expect(await secretNow()).toBeNull();
		expect((await undo("admin")).status).toBe(200);
		expect(await secretNow()).toBe("a-secret-that-leaked");
		await change(null);
	});

	it.each(["viewer", "manager", "finance"] as const)("no key of a %s issues, rotates or revokes keys", async (role) => {
		const stored = () => env.DB.prepare("SELECT count(*) AS count, sum(expires_at) AS ends FROM access_keys").first();
		const before = await stored();
		const owner = `${role}@example.com`;
		for (const [verb, body] of [
			["issue", { kind: "operator_key", owner, role: "admin" }],
			["rotate", { kind: "operator_key", owner }],
			["revoke", { kind: "operator_key", owner: "admin@example.com" }],
		] as const) {
			expect((await keysVerb(verb, body, keys.get(role))).status).toBe(403);
		}
		expect(await stored()).toEqual(before);
	});
});

describe("worker: the life of an operator key", () => {
	it("it is shown once, named in the audit, and acts until it ends", async () => {
		const { value, role, ends_at } = await issue("Ada L.", "manager", { expires: "2026-11-18T16:00:00Z" });
		expect([value, role, ends_at]).toEqual([expect.stringMatching(/^opk_[\w-]{38}$/), "manager", "2026-11-18T16:00:00.000Z"]);
		expect(JSON.stringify(await keysOf("Ada L."))).not.toContain(value);
		expect((await ask("POST", "/operator/network", value, { publishers: [ACME] })).status).toBe(200);
		expect((await ask("POST", "/operator/callbacks/test", value, { url: "https://callbacks.invalid/" })).status).toBe(200);
		const { data } = await (await ask("GET", "/operator/audit?actor=Ada%20L.", value)).json<{ data: unknown[] }>();
		expect(data[0]).toMatchObject({ actor: "Ada L.", role: "manager", verb: "testCallback" });
		later(60 * MINUTE_MS);
		expect(await statusWith(value)).toBe(401);
		setNow(START);
	});

	it("a rotation keeps its role and its end, and leaves the old one the overlap; a revocation ends both", async () => {
		const old = await issue("grace", "finance", { expires: "2026-12-01T00:00:00Z" });
		const rotated = await keysVerb("rotate", { kind: "operator_key", owner: "grace", overlap_hours: 1 });
		const next = (await rotated.json<Issued>()).issued;
		expect([next.role, next.ends_at]).toEqual(["finance", "2026-12-01T00:00:00.000Z"]);
		expect([await statusWith(old.value), await statusWith(next.value)]).toEqual([200, 200]);
		later(60 * MINUTE_MS);
		expect([await statusWith(old.value), await statusWith(next.value)]).toEqual([401, 200]);
		setNow(START);
		expect(await (await keysVerb("revoke", { kind: "operator_key", owner: "grace" })).json()).toMatchObject({ revoked: 2 });
		expect([await statusWith(old.value), await statusWith(next.value)]).toEqual([401, 401]);
		expect((await keysVerb("rotate", { kind: "operator_key", owner: "grace" })).status).toBe(422);
	});

	it.each([
		["/operator/keys/issue", { kind: "operator_key", owner: "again", role: "admin" }],
		["/operator/network", { publishers: [{ id: "acme", name: "Again" }] }],
		["/operator/products", {}],
	])("a body that is held back until it is revoked does nothing: %s", async (path, body) => {
		const { value, id } = await issue("leaver", "admin");
		const bytes = utf8(JSON.stringify(body));
		const sendWhile = async (isMeasured: boolean, meanwhile: () => Promise<unknown> = async () => {}) => {
			const held = new ReadableStream({
				async pull(controller) {
					await meanwhile();
					later(5_000);
					controller.enqueue(bytes);
					controller.close();
				},
			});
			const headers = { OperatorKey: value, ...(isMeasured && { "content-length": String(bytes.byteLength) }) };
			const { status } = await exports.default.fetch(`https://base.example${path}?dry_run=1`, { method: "POST", headers, body: held });
			setNow(START);
			return status;
		};
		expect([await sendWhile(false), await sendWhile(true)]).toEqual([200, 200]);
		expect(await sendWhile(true, () => keysVerb("revoke", { kind: "operator_key", owner: "leaver", id }))).toBe(401);
	});

	it("its last use is written in the background, once in some minutes", async () => {
		const { value, id } = await issue("linus", "viewer");
		const lastUse = async () => (await keysOf("linus")).find((key) => key.id === id)?.last_used_at;
		expect(await lastUse()).toBeNull();
		await statusWith(value);
		await vi.waitFor(async () => expect(await lastUse()).toBe("2026-11-18T15:00:00.000Z"), { timeout: 20_000 });
		const worker = openCountedWorker();
		const lastUseAfter = async (ms: number) => {
			later(ms);
			expect((await worker.fetch("/operator/status", { headers: { OperatorKey: value } })).status).toBe(200);
			return lastUse();
		};
		expect(await lastUseAfter(4 * MINUTE_MS)).toBe("2026-11-18T15:00:00.000Z");
		expect(await lastUseAfter(5 * MINUTE_MS)).toBe("2026-11-18T15:05:00.000Z");
		expect(await lastUseAfter(6 * MINUTE_MS)).toBe("2026-11-18T15:05:00.000Z");
		setNow(START);
	});

	it("works where OPERATOR_KEY is not set: for whoever holds none there is nothing", async () => {
		const worker = openCountedWorker({ OPERATOR_KEY: "" });
		const asked = async (headers: Record<string, string>) => (await worker.fetch("/operator/status", { headers })).status;
		expect(await asked({ OperatorKey: keys.get("viewer") ?? "" })).toBe(200);
		expect([await asked({}), await asked(OPERATOR_HEADERS), await asked({ OperatorKey: "opk_guess" })]).toEqual([404, 404, 404]);
	});

	it.each([
		["issue", { kind: "operator_key", owner: "ada" }, "role"],
		["issue", { kind: "operator_key", owner: "ada", role: "owner" }, "role"],
		["issue", { kind: "operator_key", owner: "operator", role: "admin" }, "owner"],
		["issue", { kind: "operator_key", owner: "ada ", role: "admin" }, "owner"],
		["issue", { kind: "operator_key", owner: "Operator ", role: "admin" }, "owner"],
		["issue", { kind: "operator_key", owner: "a\nb", role: "admin" }, "owner"],
		["issue", { kind: "operator_key", owner: "ada", role: "admin", expires: "2026-11-18T15:00:00Z" }, "expires"],
		["issue", { kind: "operator_key", owner: "ada", role: "admin", expires: "soon" }, "expires"],
		["issue", { kind: "access_key", owner: "acme", role: "admin" }, "role"],
		["issue", { kind: "access_key", owner: "acme", expires: "2027-01-01T00:00:00Z" }, "expires"],
		["issue", { kind: "callback_secret", owner: "acme", expires: "2027-01-01T00:00:00Z" }, "expires"],
		["issue", { kind: "callback_secret", owner: "acme", role: "viewer" }, "role"],
		["rotate", { kind: "access_key", owner: "acme", expires: "2027-01-01T00:00:00Z" }, "expires"],
		["rotate", { kind: "operator_key", owner: "nobody" }, "owner"],
		["rotate", { kind: "operator_key", owner: "viewer@example.com", expires: "2026-01-01T00:00:00Z" }, "expires"],
		["revoke", { kind: "operator_key", owner: "nobody" }, "owner"],
	])("%s %j: 422 that names %s", async (verb, body, path) => {
		const response = await keysVerb(verb, body);
		expect([response.status, await response.json()]).toMatchObject([422, { faults: [{ path }] }]);
	});

	it.each(["ada\u200b", "ad\u202ea", "ada\u3164", "\u0430da", "\uff4fperator", "\u043eperator"])(
		"no name passes for another by what nobody sees: %j",
		async (owner) => {
			const response = await keysVerb("issue", { kind: "operator_key", owner, role: "viewer" });
			expect([response.status, await response.json()]).toMatchObject([422, { faults: [{ path: "owner" }] }]);
		},
	);

	it("no name is another's but for case, widths or blanks: of an operator key, or of staff in the console", async () => {
		await issue("Rosa  L.", "viewer");
		await env.DB.prepare("INSERT INTO console_people (id, name, role, created_at) VALUES ('staff-1', 'Sophie G', 'viewer', 0)").run();
		for (const [owner, other] of [
			["rosa l.", "Rosa  L."],
			["\uff32osa  L.", "Rosa  L."],
			["SOPHIE g", "Sophie G"],
		]) {
			for (const query of ["", "?dry_run=1"]) {
				const response = await keysVerb(`issue${query}`, { kind: "operator_key", owner, role: "viewer" });
				const message = `looks like ${other}, which is there already: write it so, or call it otherwise`;
				expect([response.status, await response.json()]).toMatchObject([422, { faults: [{ path: "owner", message }] }]);
			}
		}
		await issue("Rosa  L.", "viewer");
		await issue("Sophie G", "viewer");
	});
});
