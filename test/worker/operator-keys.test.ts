/** Keys, publisher ids and identities: issued, rotated with an overlap, revoked, listed; and what imports do about them. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../src/db/client.ts";
import { SecretBox } from "../../src/lib/secret-box.ts";
import { credentialsSchema, issuedSchema, keysPreviewSchema, revokedSchema } from "../../src/operator/keys/keys-answers.ts";
import type { KeyVerb } from "../../src/operator/keys/keys-request.ts";
import { MAX_VALID } from "../../src/operator/keys/require-room.ts";
import { issueCredential, rotateCredential } from "../../src/operator/keys/run-key-verbs.ts";
import { ACTOR } from "../support/actor.ts";
import { interrupted } from "../support/interrupted.ts";
import { setNow } from "../support/load-network.ts";
import { ACME, brandEntry, faultsOf, importFile, NORTHWIND, OPERATOR_HEADERS, priceFor } from "../support/network-import.ts";
import { storedPublisher } from "../support/stored-book.ts";

const START = "2026-11-18T15:00:00Z";
const HOUR_MS = 3_600_000;
const later = (ms: number) => setNow(new Date(Date.parse(START) + ms).toISOString());
const OTHER = {
	...ACME,
	id: "other",
	publisher_id: "9009",
	publisher_identity: "other_rtb",
	access_key: "access-key-other",
	publisher_key: "publisher-key-other",
};

beforeAll(async () => {
	setNow(START);
	await importFile({ platforms: [NORTHWIND], publishers: [ACME, OTHER], brands: [brandEntry("shoes.example", 1)] });
});

afterEach(() => setNow(START));

const post = (verb: string, body: unknown, headers: Record<string, string> = OPERATOR_HEADERS) =>
	exports.default.fetch(`https://base.example/operator/keys/${verb}`, {
		method: "POST",
		headers,
		body: typeof body === "string" ? body : JSON.stringify(body),
	});

async function done<Schema extends v.GenericSchema>(verb: KeyVerb, body: object, schema: Schema): Promise<v.InferOutput<Schema>> {
	const response = await post(verb, body);
	if (response.status !== 200) throw new Error(`${verb} answered ${response.status}: ${await response.text()}`);
	expect(response.headers.get("cache-control")).toBe("no-store");
	return v.parse(schema, await response.json());
}

const issued = async (verb: "issue" | "rotate", body: object) => (await done(verb, body, issuedSchema)).issued;
const revoke = (body: object) => done("revoke", body, revokedSchema);
const list = async (body: object) => (await done("list", body, credentialsSchema)).keys;

/** Whether an Access Key opens the brand list now. */
async function opens(key: string): Promise<boolean> {
	const response = await exports.default.fetch("https://base.example/api/brands-list", { method: "HEAD", headers: { AccessKey: key } });
	return response.status === 200;
}

async function servesPubi(pubi: string): Promise<boolean> {
	const response = await exports.default.fetch(`https://rtb.example/serving-engine?pubi=${pubi}&bd=shoes.example&cc=US`);
	return (await response.json<{ status: number }>()).status === 1;
}

describe("worker: issuing", () => {
	it.each(["publisher_key", "callback_secret"])("a %s is refused past twenty that are valid, until one is revoked", async (kind) => {
		const owned = { kind, owner: "other" };
		const valid = (await list(owned)).filter(({ state }) => state !== "ended").length;
		for (let at = valid; at < MAX_VALID; at++) await issued("issue", owned);
		const message = "has 20 that are valid: revoke one first";
		for (const [verb, more] of [
			["issue", {}],
			["issue?dry_run=1", {}],
			["rotate", { overlap_hours: 1 }],
			["rotate?dry_run=1", { overlap_hours: 1 }],
		] as const) {
			const refused = await post(verb, { ...owned, ...more });
			const { faults } = await refused.json<{ faults?: unknown }>();
			expect([verb, refused.status, faults]).toEqual([verb, 422, [{ path: "kind", message }]]);
		}
		const [last] = (await list(owned)).filter(({ state }) => state !== "ended");
		await revoke({ ...owned, id: last?.id });
		await issued("issue", owned);
		// All others of a leaked one end at once: that is no further one.
		await issued("rotate", { ...owned, overlap_hours: 0 });
		await issued("issue", owned);
	});

	it.each([
		["publisher_key", "issue"],
		["callback_secret", "issue"],
		["publisher_key", "rotate"],
		["callback_secret", "rotate"],
	] as const)("of a %s no more than twenty are valid, however many ask to %s it at once", async (kind, verb) => {
		const owned = { kind, owner: "other" };
		await issued("rotate", { ...owned, overlap_hours: 0 });
		const deps = {
			db: openDatabase(env.DB),
			now: () => Date.now(),
			box: new SecretBox(env.TOKEN_KEYS.split(",")),
			publish: async () => {},
		};
		const ask = () =>
			verb === "issue" ? issueCredential(deps, ACTOR, owned) : rotateCredential(deps, ACTOR, { ...owned, overlap_hours: 1 });
		const asked = await Promise.allSettled(Array.from({ length: MAX_VALID + 5 }, ask));
		expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(MAX_VALID - 1);
		const states = (await list(owned)).map(({ state }) => state).filter((state) => state !== "ended");
		expect([states.length, states.includes("valid")]).toEqual([MAX_VALID, true]);
		await issued("rotate", { ...owned, overlap_hours: 0 });
	});

	it("makes a further key, shows it once, stores its hash alone", async () => {
		const { value, id } = await issued("issue", { kind: "access_key", owner: "other" });
		expect(value).toMatch(/^ak_[\w-]{38}$/);
		expect([await opens(value), await opens(OTHER.access_key)]).toEqual([true, true]);
		const keys = await list({ kind: "access_key", owner: "other" });
		expect(keys).toContainEqual(expect.objectContaining({ id, state: "valid", ends_at: null }));
		expect(JSON.stringify([keys, (await env.DB.prepare("SELECT * FROM access_keys").all()).results])).not.toContain(value);
	});

	it.each(["publisher_key", "platform_key"])("a %s too", async (kind) => {
		const { value } = await issued("issue", { kind, owner: kind === "platform_key" ? "northwind" : "other" });
		expect(value).toMatch(/^(pk|plk)_[\w-]{38}$/);
	});
});

describe("worker: rotating a key", () => {
	it("both are valid for 24 hours, then the new one alone", async () => {
		const { value: next } = await issued("rotate", { kind: "access_key", owner: "acme" });
		expect([await opens(ACME.access_key), await opens(next)]).toEqual([true, true]);
		later(24 * HOUR_MS - 1);
		expect([await opens(ACME.access_key), await opens(next)]).toEqual([true, true]);
		later(24 * HOUR_MS);
		expect([await opens(ACME.access_key), await opens(next)]).toEqual([false, true]);
	});

	it("an import of the file as it was neither revives the old key nor ends the new one", async () => {
		const { value: next } = await issued("rotate", { kind: "access_key", owner: "acme" });
		const { warnings, issued: made } = await importFile({ publishers: [ACME] });
		expect(made).toEqual([]);
		expect(warnings).toContainEqual({ path: "publishers[0].access_key", message: expect.stringMatching(/rotated out or revoked/) });
		expect([await opens(ACME.access_key), await opens(next)]).toEqual([true, true]);
		later(24 * HOUR_MS);
		expect([await opens(ACME.access_key), await opens(next)]).toEqual([false, true]);
	});

	it("an import that brings a new key ends the others now, but leaves an overlap its term", async () => {
		const { value: rotated } = await issued("rotate", { kind: "access_key", owner: "other", overlap_hours: 2 });
		await importFile({ publishers: [{ ...OTHER, access_key: "access-key-other-2" }] });
		expect(await Promise.all([OTHER.access_key, rotated, "access-key-other-2"].map(opens))).toEqual([true, false, true]);
		later(2 * HOUR_MS);
		expect(await Promise.all([OTHER.access_key, rotated, "access-key-other-2"].map(opens))).toEqual([false, false, true]);
	});

	it.each([
		[0, false],
		[0.5, true],
	])("with an overlap of %d hours the old one is still valid: %s", async (overlap_hours, stillValid) => {
		const { value: first } = await issued("rotate", { kind: "access_key", owner: "acme", overlap_hours: 0 });
		await issued("rotate", { kind: "access_key", owner: "acme", overlap_hours });
		expect(await opens(first)).toBe(stillValid);
		later(HOUR_MS / 2);
		expect(await opens(first)).toBe(false);
	});

	it("a second rotation does not lengthen the first one's overlap", async () => {
		const { value: first } = await issued("rotate", { kind: "access_key", owner: "acme", overlap_hours: 0 });
		await issued("rotate", { kind: "access_key", owner: "acme", overlap_hours: 1 });
		await issued("rotate", { kind: "access_key", owner: "acme", overlap_hours: 48 });
		later(HOUR_MS);
		expect(await opens(first)).toBe(false);
	});
});

describe("worker: revoking", () => {
	it("one key by its id, at once where it was revoked; others stay", async () => {
		const { value, id } = await issued("issue", { kind: "access_key", owner: "acme" });
		const { value: other } = await issued("issue", { kind: "access_key", owner: "acme" });
		expect(await opens(value)).toBe(true);
		expect(await revoke({ kind: "access_key", owner: "acme", id })).toMatchObject({ revoked: 1 });
		expect([await opens(value), await opens(other)]).toEqual([false, true]);
		expect((await post("revoke", { kind: "access_key", owner: "acme", id })).status).toBe(422);
	});

	it("all of a kind; an import makes none of them valid again, nor a new one", async () => {
		await revoke({ kind: "publisher_key", owner: "acme" });
		const { issued: made } = await importFile({ publishers: [ACME] });
		await importFile({ publishers: [{ ...ACME, publisher_key: null }] });
		expect(made).toEqual([]);
		const states = (await list({ kind: "publisher_key", owner: "acme" })).map(({ state }) => state);
		expect(new Set(states)).toEqual(new Set(["ended"]));
	});
});

describe("worker: last use", () => {
	it("is shown to the day", async () => {
		const { value, id } = await issued("issue", { kind: "access_key", owner: "acme" });
		const usedOn = async () => (await list({ kind: "access_key", owner: "acme" })).find((key) => key.id === id)?.last_used_on;
		expect(await usedOn()).toBeNull();
		await opens(value);
		await vi.waitFor(async () => expect(await usedOn()).toBe("2026-11-18"), { timeout: 20_000 });
	});
});

describe("worker: rotating a publisher identity", () => {
	it("both bid for the overlap, each with its own name as seat; then the new one alone", async () => {
		const { value } = await issued("rotate", { kind: "publisher_identity", owner: "acme" });
		expect([await priceFor("shoes.example", "acme_rtb"), await priceFor("shoes.example", value)]).toEqual([0.2, 0.2]);
		expect(await seatFor("acme_rtb")).toBe("acme_rtb");
		expect(await seatFor(value)).toBe(value);
		later(24 * HOUR_MS - 1);
		expect(await priceFor("shoes.example", "acme_rtb")).toBe(0.2);
		later(24 * HOUR_MS);
		expect([await priceFor("shoes.example", "acme_rtb"), await priceFor("shoes.example", value)]).toEqual([null, 0.2]);
	});

	it("a file that still names the old one does not bring it back", async () => {
		const { value } = await issued("rotate", { kind: "publisher_identity", owner: "acme", overlap_hours: 0, value: "acme_2027" });
		expect(value).toBe("acme_2027");
		const { warnings } = await importFile({ publishers: [ACME] });
		expect(warnings).toContainEqual({ path: "publishers[0].publisher_identity", message: expect.stringMatching(/replaced since/) });
		expect([await priceFor("shoes.example", "acme_rtb"), await priceFor("shoes.example", "acme_2027")]).toEqual([null, 0.2]);
	});

	it("a rotation may bring back the publisher's own former name", async () => {
		await issued("rotate", { kind: "publisher_identity", owner: "acme", overlap_hours: 0, value: "acme_rtb" });
		expect([await priceFor("shoes.example", "acme_rtb"), await priceFor("shoes.example", "acme_2027")]).toEqual([0.2, null]);
	});

	it("a former name stays its publisher's: no rotation and no import gives it to another", async () => {
		const response = await post("rotate", { kind: "publisher_identity", owner: "other", value: "acme_2027" });
		expect(response.status).toBe(422);
		expect(await response.json()).toMatchObject({ faults: [{ path: "value", message: "is or was another publisher's" }] });
		const { faults } = await faultsOf({ publishers: [{ ...OTHER, publisher_identity: "acme_2027" }] });
		expect(faults).toEqual([{ path: "publishers[0].publisher_identity", message: "already belongs to another" }]);
	});

	it("a name that another publisher takes meanwhile is not given to a second one, which keeps its own", async () => {
		const rows = async () =>
			(
				await env.DB.batch([
					env.DB.prepare("SELECT publisher_identity FROM publishers WHERE id = 'other'"),
					env.DB.prepare("SELECT value, expires_at FROM publisher_names WHERE publisher_id = 'other' ORDER BY value"),
					env.DB.prepare("SELECT id FROM audit WHERE subject_id = 'other' ORDER BY id"),
				])
			).map(({ results }) => results);
		const before = await rows();
		const wanted = { kind: "publisher_identity", overlap_hours: 0, value: "wanted_by_two" } as const;
		const deps = {
			db: interrupted(() => issued("rotate", { ...wanted, owner: "acme" })),
			now: () => Date.now(),
			box: new SecretBox(env.TOKEN_KEYS.split(",")),
			publish: async () => {},
		};
		await expect(rotateCredential(deps, ACTOR, { ...wanted, owner: "other" })).rejects.toMatchObject({ status: 422 });
		expect(await rows()).toEqual(before);
		await issued("rotate", { ...wanted, owner: "acme", value: "acme_rtb" });
	});

	it("revoking ends an overlap now; the present name cannot be revoked", async () => {
		await issued("rotate", { kind: "publisher_identity", owner: "acme", value: "acme_2028" });
		expect(await priceFor("shoes.example", "acme_rtb")).toBe(0.2);
		await revoke({ kind: "publisher_identity", owner: "acme", id: "acme_rtb" });
		expect([await priceFor("shoes.example", "acme_rtb"), await priceFor("shoes.example", "acme_2028")]).toEqual([null, 0.2]);
		expect((await post("revoke", { kind: "publisher_identity", owner: "acme", id: "acme_2028" })).status).toBe(422);
		expect((await list({ kind: "publisher_identity", owner: "acme" })).map(({ id, state }) => [id, state])).toContainEqual([
			"acme_2028",
			"valid",
		]);
	});

	it("an import that names a new one replaces the present one now, and keeps it for clicks", async () => {
		await importFile({ publishers: [{ ...OTHER, publisher_identity: "other_new" }] });
		expect([await priceFor("shoes.example", "other_rtb"), await priceFor("shoes.example", "other_new")]).toEqual([null, 0.2]);
		const { results } = await env.DB.prepare(
			"SELECT value, publisher_id, expires_at IS NULL AS present FROM publisher_names WHERE kind = 'publisher_identity' AND publisher_id = 'other' ORDER BY value",
		).all();
		expect(results).toEqual([
			{ value: "other_new", publisher_id: "other", present: 1 },
			{ value: "other_rtb", publisher_id: "other", present: 0 },
		]);
		expect((await storedPublisher("other_rtb"))?.id).toBe("other");
	});
});

describe("worker: rotating a publisher id", () => {
	it("both serve for the overlap, then the new one alone", async () => {
		const { value } = await issued("rotate", { kind: "publisher_id", owner: "acme", overlap_hours: 2 });
		expect(value).toMatch(/^\d{10}$/);
		expect([await servesPubi("1001"), await servesPubi(value)]).toEqual([true, true]);
		later(2 * HOUR_MS);
		expect([await servesPubi("1001"), await servesPubi(value)]).toEqual([false, true]);
	});
});

describe("worker: bad requests about keys", () => {
	it("need the operator key", async () => {
		for (const verb of ["issue", "rotate", "revoke", "list"]) expect((await post(verb, {}, { OperatorKey: "wrong" })).status).toBe(401);
	});

	it.each([
		["issue", "not json", ""],
		["issue", {}, "kind"],
		["issue", { kind: "access_key" }, "owner"],
		["issue", { kind: "password", owner: "acme" }, "kind"],
		["issue", { kind: "access_key", owner: "nobody" }, "owner"],
		["issue", { kind: "platform_key", owner: "acme" }, "owner"],
		["issue", { kind: "publisher_id", owner: "acme" }, "kind"],
		["issue", { kind: "access_key", owner: "acme", overlap: 3 }, "overlap"],
		["rotate", { kind: "access_key", owner: "acme", overlap_hours: -1 }, "overlap_hours"],
		["rotate", { kind: "access_key", owner: "acme", overlap_hours: "2" }, "overlap_hours"],
		["rotate", { kind: "access_key", owner: "acme", overlap_hours: 1e9 }, "overlap_hours"],
		["rotate", { kind: "access_key", owner: "acme", value: "chosen-by-hand" }, "value"],
		["rotate", { kind: "publisher_identity", owner: "acme", value: "with space" }, "value"],
		["rotate", { kind: "publisher_identity", owner: "nobody" }, "owner"],
		["revoke", { kind: "access_key", owner: "acme", id: "000000000000" }, "id"],
		["revoke", { kind: "publisher_id", owner: "other" }, "owner"],
		["list", { kind: "everything" }, "kind"],
	])("%s %j: 422 that names the field, and nothing changes", async (verb, body, path) => {
		const stored = async () =>
			JSON.stringify([
				(await env.DB.prepare("SELECT * FROM access_keys ORDER BY hash").all()).results,
				(await env.DB.prepare("SELECT * FROM publisher_names ORDER BY kind, value").all()).results,
			]);
		const before = await stored();
		const response = await post(verb, body);
		expect(response.status).toBe(422);
		const answer = await response.json<{ faults: { path: string }[] }>();
		expect(answer.faults.map((fault) => fault.path)).toContain(path);
		expect(await stored()).toBe(before);
		const previewed = await post(verb === "list" ? verb : `${verb}?dry_run=1`, body);
		expect([previewed.status, (await previewed.json<typeof answer>()).faults.map((fault) => fault.path)]).toEqual([
			422,
			answer.faults.map((fault) => fault.path),
		]);
	});
});

describe("worker: a dry run about keys says what would be done, and does nothing", () => {
	const owner = "previewed";

	beforeAll(() =>
		importFile({
			publishers: [
				{
					...ACME,
					id: owner,
					publisher_id: "7007",
					publisher_identity: "previewed_rtb",
					access_key: "access-key-p",
					publisher_key: "publisher-key-p",
				},
			],
		}),
	);

	const preview = async (verb: string, body: object) => {
		const before = await list({});
		const response = await post(`${verb}?dry_run=1`, body);
		expect(response.status).toBe(200);
		const shown = v.parse(keysPreviewSchema, await response.json());
		expect(await list({})).toEqual(before);
		return shown;
	};

	it.each<[string, { kind: string; overlap_hours?: number; value?: string; id?: string }]>([
		["issue", { kind: "access_key" }],
		["rotate", { kind: "access_key", overlap_hours: 2 }],
		["rotate", { kind: "publisher_identity", value: "previewed_2" }],
		["issue", { kind: "callback_secret" }],
		["rotate", { kind: "callback_secret", overlap_hours: 0 }],
		["revoke", { kind: "access_key" }],
		["revoke", { kind: "publisher_identity", id: "previewed_rtb" }],
	])("%s %j", async (verb, body) => {
		const ends = async () => new Map((await list({ kind: body.kind, owner })).map(({ id, ends_at }) => [id, ends_at]));
		const shown = await preview(verb, { ...body, owner });
		expect(shown.issued?.kind ?? null).toBe(verb === "revoke" ? null : body.kind);
		const before = await ends();
		expect((await post(verb, { ...body, owner })).status).toBe(200);
		const changed = [...(await ends())].filter(([id, end]) => before.has(id) && before.get(id) !== end);
		expect(new Map(shown.ending.map(({ id, ends_at }) => [id, ends_at]))).toEqual(new Map(changed));
		expect(shown.ending.length > 0).toBe(verb !== "issue");
	});

	it("shows what an operator key would allow", async () => {
		const { issued } = await preview("issue", { kind: "operator_key", owner: "ada", role: "finance" });
		expect(issued).toEqual({ owner: "ada", kind: "operator_key", role: "finance", ends_at: null });
	});
});

async function seatFor(identity: string): Promise<string | undefined> {
	const response = await exports.default.fetch(`https://rtb.example/openrtb/${identity}`, {
		method: "POST",
		body: JSON.stringify({ id: "a", imp: [{ id: "1" }], site: { domain: "shoes.example" } }),
	});
	return (await response.json<{ seatbid: { seat: string }[] }>()).seatbid[0]?.seat;
}
