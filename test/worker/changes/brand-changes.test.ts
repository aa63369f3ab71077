/** GET /api/brands/changes: whoever follows it has what the brand lists have, whatever imports bring, and hears of nothing else. */
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { type BrandChange, brandChangesSchema } from "../../../src/changes/brand-changes-answer.ts";
import { LinkTokens } from "../../../src/click-token/link-token.ts";
import { readConfig } from "../../../src/config.ts";
import { writeCursor } from "../../../src/http/pages.ts";
import { fromBase64Url, toBase64Url } from "../../../src/lib/base64-url.ts";
import { sha256 } from "../../../src/lib/bytes.ts";
import type { TRAFFIC_TYPES } from "../../../src/lib/enums.ts";
import { askChanges, FeedClient, getChanges } from "../../support/changes.ts";
import { ACME, brandEntry, importExactly, importFile, NORTHWIND, OPERATOR_HEADERS } from "../../support/network-import.ts";

const RUNS = Number(env.PROPERTY_RUNS || 5);
const PATH = "/api/brands/changes";
const KEYS = { acme: "access-key-acme", blue: "access-key-blue" };
type Publisher = keyof typeof KEYS;

const publisherEntry = (id: Publisher, blocked_brands: object[] = [], fields: object = {}) => ({
	...ACME,
	id,
	publisher_id: `id-${id}`,
	publisher_identity: `identity-${id}`,
	access_key: KEYS[id],
	publisher_key: `publisher-key-${id}`,
	blocked_brands,
	...fields,
});

const newClient = (of: Publisher) =>
	new FeedClient<BrandChange>(askChanges(PATH, KEYS[of]), (copy, entry) => {
		if (entry.brand === null) copy.delete(entry.domain);
		else copy.set(entry.domain, entry);
	});

async function list(of: Publisher, query: Record<string, string | number> = {}) {
	const response = await getChanges(PATH, KEYS[of], query);
	expect(response.status).toBe(200);
	return v.parse(brandChangesSchema, await response.json());
}

const partsOf = (cursor: string) =>
	JSON.parse(new TextDecoder().decode(fromBase64Url(cursor) ?? new Uint8Array())) as [string, string, number, number];

type BrandRecord = { domain: string };

async function brandList(of: Publisher, path: string): Promise<BrandRecord[]> {
	const response = await exports.default.fetch(`https://base.example${path}`, { headers: { AccessKey: KEYS[of] } });
	const { data = [] } = await response.json<{ data?: BrandRecord[] }>();
	return data.toSorted(byText);
}

const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** Both brand lists, as the Worker gives them and as a copy has them. */
async function readLists(of: Publisher, types: readonly string[]) {
	const byType = await Promise.all(
		types.map((type) => brandList(of, `/api/brands-list-by-traffic-type?traffic_type=${encodeURIComponent(type)}`)),
	);
	return [await brandList(of, "/api/brands-list"), ...byType];
}

function listsOf(copy: ReadonlyMap<string, BrandChange>, types: readonly string[]) {
	const entries = [...copy.values()];
	const isFor = (type: string, { traffic_types }: BrandChange) =>
		type === "All" || traffic_types.some((own) => own === "All" || own === type);
	const byType = types.map((type) => entries.filter((entry) => isFor(type, entry)).flatMap(({ offers }) => offers));
	return [entries.map(({ brand }) => brand), ...byType].map((records) => records.map((record) => record ?? {}).toSorted(byText));
}

/** The clock that versions follow stands still within a millisecond: versions grow all the same. */
const takeOver = (file: Parameters<typeof importExactly>[0]) => importExactly(file);

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [publisherEntry("acme"), publisherEntry("blue")] });
});

describe("worker: changes of brands", () => {
	it("tells what has become of a brand since the cursor, and of each brand once", async () => {
		await takeOver({
			brands: [brandEntry("one.example", 1), brandEntry("two.example", 2), brandEntry("hidden.example", 3, { active: false })],
		});
		const begun = await list("acme");
		expect(begun.data.map(({ domain, changes }) => [domain, changes])).toEqual([
			["one.example", ["added"]],
			["two.example", ["added"]],
		]);
		const after = begun.next_cursor;
		const told = async (of: Publisher = "acme") => (await list(of, { after })).data.map(({ domain, changes }) => [domain, ...changes]);
		expect(await told()).toEqual([]);
		await takeOver({ brands: [brandEntry("one.example", 1), brandEntry("hidden.example", 3, { active: false, name: "Other" })] });
		expect(await told()).toEqual([]);
		await takeOver({ brands: [brandEntry("one.example", 1, {}, { commission_rate: "9%" })] });
		await takeOver({ brands: [brandEntry("one.example", 1, { restricted_traffic: ["Coupons"] }, { commission_rate: "9%" })] });
		expect(await told()).toEqual([["one.example", "rate", "restrictions"]]);
		await takeOver({ brands: [brandEntry("two.example", 2, { active: false })] });
		expect(await told()).toEqual([
			["one.example", "rate", "restrictions"],
			["two.example", "paused"],
		]);
		await takeOver({ brands: [brandEntry("two.example", 2, { name: "Two" }), brandEntry("hidden.example", 3)] });
		await takeOver({ publishers: [publisherEntry("blue", [{ domain: "one.example" }])] });
		expect(await told()).toEqual([
			["one.example", "rate", "restrictions"],
			["two.example", "resumed", "details"],
			["hidden.example", "added"],
		]);
		const blue = await list("blue");
		expect(blue.data.map(({ domain }) => domain)).toEqual(["two.example", "hidden.example"]);
		await takeOver({ brands: [brandEntry("one.example", 1, { name: "A brand that blue may not see" })] });
		expect((await list("blue", { after: blue.next_cursor })).data).toEqual([]);
		await takeOver({ publishers: [publisherEntry("blue", [{ domain: "two.example", country: "US" }])] });
		expect((await list("blue", { after: blue.next_cursor })).data.map(({ domain, changes }) => [domain, ...changes])).toEqual([
			["one.example", "rate", "restrictions", "details", "unblocked"],
			["two.example", "blocked"],
		]);
		await takeOver({ brands: [{ ...brandEntry("one.example", 1), campaigns: [] }] });
		expect((await told()).find(([domain]) => domain === "one.example")).toEqual(["one.example", "removed"]);
	});

	it("tells of a brand whose campaign is active again that it is, and of its rate only where that is another", async () => {
		const paused = (fields: object = {}) => brandEntry("back.example", 51, {}, { active: false, ...fields });
		await takeOver({ brands: [brandEntry("back.example", 51)] });
		const { next_cursor: listed } = await list("acme", { limit: 1_000 });
		const of = async (after: string) => (await list("acme", { after })).data.map(({ changes }) => changes);
		await takeOver({ brands: [paused()] });
		expect(await of(listed)).toEqual([["paused"]]);
		const { next_cursor: gone } = await list("acme", { after: listed });
		await takeOver({ brands: [paused({ commission_rate: "9%" })] });
		expect(await of(gone)).toEqual([]);
		await takeOver({ brands: [brandEntry("back.example", 51)] });
		expect([await of(listed), await of(gone)]).toEqual([[["resumed"]], [["resumed"]]]);
		await takeOver({ brands: [paused()] });
		await takeOver({ brands: [brandEntry("back.example", 51, {}, { commission_rate: "9%" })] });
		expect(await of(gone)).toEqual([["resumed", "rate"]]);
		await takeOver({ brands: [{ ...brandEntry("back.example", 51), campaigns: [] }] });
	});

	it("tells of a brand that is blocked in one of its countries as of a restricted one", async () => {
		const [campaign] = brandEntry("split.example", 41).campaigns;
		const abroad = { ...brandEntry("split.example", 42).campaigns[0], country: "DE" };
		await takeOver({ brands: [{ ...brandEntry("split.example", 41), campaigns: [campaign, abroad] }] });
		const of = async (after: string) => (await list("acme", { after })).data.map(({ domain, changes }) => [domain, ...changes]);
		const { next_cursor: listed } = await list("acme", { limit: 1_000 });
		await takeOver({ publishers: [publisherEntry("acme", [{ domain: "split.example", country: "DE" }])] });
		expect(await of(listed)).toEqual([["split.example", "restrictions"]]);
		await takeOver({
			brands: [{ ...brandEntry("split.example", 41, { restricted_traffic: ["Coupons"] }), campaigns: [campaign, abroad] }],
		});
		expect(await of(listed)).toEqual([["split.example", "restrictions"]]);
		await takeOver({ publishers: [publisherEntry("acme")] });
		expect(await of(listed)).toEqual([["split.example", "restrictions", "unblocked"]]);
	});

	it("a client that is killed at random rebuilds exactly the brand lists", async () => {
		const domains = ["a.example", "b.example", "c.example", "d.example"];
		const campaign = fc.record({
			active: fc.constantFrom(true, true, false),
			country: fc.constantFrom("US", "US", "DE"),
			commission_rate: fc.constantFrom(null, "5%"),
			flat_fee: fc.constantFrom(null, null, "3"),
			max_rate: fc.constantFrom(null, "10"),
			deeplink_url: fc.constantFrom(null, "https://track.example/d?u={deeplink}&s={click_id}"),
			deeplink_verified: fc.boolean(),
		});
		const brand = fc.record({
			at: fc.nat(domains.length - 1),
			name: fc.constantFrom("Name", "Name", "Other"),
			active: fc.constantFrom(true, true, true, false),
			restricted_traffic: fc.constantFrom([], ["Coupons"]),
			traffic_types: fc.constantFrom([], ["All"], ["Content"], ["Content", "Email"]),
			blocked_countries: fc.constantFrom([], [], ["US"], ["DE"]),
			campaigns: fc.array(campaign, { maxLength: 3 }),
		});
		const block = fc.record({ domain: fc.constantFrom(...domains), country: fc.constantFrom(null, "US", "DE") });
		const step = fc.oneof(
			{
				weight: 4,
				arbitrary: fc.record({
					kind: fc.constant("import" as const),
					brands: fc.uniqueArray(brand, { maxLength: 3, selector: ({ at }) => at }),
				}),
			},
			{ weight: 2, arbitrary: fc.record({ kind: fc.constant("block" as const), blocks: fc.array(block, { maxLength: 2 }) }) },
			{
				weight: 4,
				arbitrary: fc.record({ kind: fc.constant("read" as const), limit: fc.constantFrom(1, 2, 100), pages: fc.nat(3), kept: fc.nat(3) }),
			},
		);
		const types = ["All", "Content", "Email"] satisfies (typeof TRAFFIC_TYPES)[number][];
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
				await takeOver({ publishers: [publisherEntry("blue", [], { cashback_enabled: true })] });
				const client = newClient("blue");
				for (const of of steps) {
					if (of.kind === "read") await client.read(of.limit, of.pages, of.kept);
					else if (of.kind === "block") await takeOver({ publishers: [publisherEntry("blue", of.blocks, { cashback_enabled: true })] });
					else {
						const brands = of.brands.map(({ at, campaigns, ...fields }) => ({
							...brandEntry(domains[at] ?? "", 0, fields),
							campaigns: campaigns.flatMap((own, n) => brandEntry("", 100 + 10 * at + n, {}, own).campaigns),
						}));
						await takeOver({ brands });
					}
				}
				const wanted = await readLists("blue", types);
				// Brand by brand by whom has some already: a publisher has 600 calls a minute.
				for (const [reader, limit] of [[client, 1] as const, [newClient("blue"), 5] as const]) {
					await reader.read(limit);
					expect(listsOf(reader.copy, types)).toEqual(wanted);
				}
			}),
			{ numRuns: RUNS },
		);
	});

	it("brands that were stored before changes were kept are told when an import brings them again", async () => {
		await takeOver({ brands: [brandEntry("old.example", 51), brandEntry("older.example", 52)] });
		const client = newClient("acme");
		await client.read(100);
		await env.DB.prepare("DELETE FROM brand_changes").run();
		await takeOver({ brands: [brandEntry("old.example", 51, { active: false })] });
		await client.read(100);
		expect([client.copy.has("old.example"), client.copy.has("older.example")]).toEqual([false, true]);
	});

	it("a cursor from before all records changed is answered 410, and so is one that a database set back has never given", async () => {
		const { next_cursor: after } = await list("blue");
		const rotated = await exports.default.fetch("https://base.example/operator/keys/rotate", {
			method: "POST",
			headers: OPERATOR_HEADERS,
			body: JSON.stringify({ kind: "publisher_identity", owner: "blue" }),
		});
		expect(rotated.status).toBe(200);
		const gone = await getChanges(PATH, KEYS.blue, { after });
		expect([gone.status, await gone.json()]).toEqual([
			410,
			{ error: "Gone", message: expect.stringContaining("without `after`"), oldest: null },
		]);
		const { next_cursor: again } = await list("blue");
		expect((await list("blue", { after: again })).data).toEqual([]);
		await env.DB.prepare("UPDATE catalogue_state SET changes_version = changes_version - 5").run();
		expect((await getChanges(PATH, KEYS.blue, { after: again })).status).toBe(410);
		await env.DB.prepare("UPDATE catalogue_state SET changes_version = changes_version + 5").run();
	});

	it("a cursor from before records were written otherwise is 410: its copy spells a field as lists no longer do", async () => {
		const { next_cursor: after } = await list("blue");
		const [reading, basis, ...place] = partsOf(after);
		const fingerprint = await new LinkTokens(env.TOKEN_KEYS.split(",")).fingerprint();
		const [identity] = await env.DB.prepare("SELECT publisher_identity FROM publishers WHERE id = 'blue'").raw<[string]>();
		const basisOf = async (format: number) => {
			const parts = JSON.stringify([format, "blue", identity?.[0], true, readConfig(env).TRACKER_URL, fingerprint]);
			return toBase64Url(await sha256(parts)).slice(0, 12);
		};
		expect(basis).toBe(await basisOf(2));
		const earlier = writeCursor([reading, await basisOf(1), ...place]);
		expect((await getChanges(PATH, KEYS.blue, { after: earlier })).status).toBe(410);
	});

	it("refuses other cursors, other publishers' among them, unknown keys, and suspended publishers", async () => {
		for (const after of ["x", "%", btoa("[]"), btoa('["changes",1,2,3]')])
			expect((await getChanges(PATH, KEYS.acme, { after })).status).toBe(422);
		expect((await getChanges(PATH, KEYS.acme, { after: (await list("blue")).next_cursor })).status).toBe(410);
		expect((await getChanges(PATH, "access-key-of-nobody")).status).toBe(401);
		await takeOver({ publishers: [publisherEntry("blue", [], { status: "suspended" })] });
		expect((await getChanges(PATH, KEYS.blue)).status).toBe(401);
	});
});
