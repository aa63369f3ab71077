/** What stands twice in a file is found as if each key and its place were kept as they are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileIndex } from "../../../src/operator/network/file-index.ts";
import type { BrandEntry } from "../../../src/operator/network/network-file.ts";

type Brand = { domain: string; aliases: string[]; campaigns: { campaign_id: number; platform: string }[] };

const host = fc.constantFrom("a.example", "b.example", "c.example", "d.example", "e.example");
const brand = fc.record({
	domain: host,
	aliases: fc.array(host, { maxLength: 2 }),
	campaigns: fc.array(fc.record({ campaign_id: fc.integer({ min: 1, max: 12 }), platform: fc.constantFrom("west", "east") }), {
		maxLength: 3,
	}),
});
const listed = fc.integer({ min: 0, max: 2 ** 30 }).map((at) => `brands[${at}]`);
const places = fc.uniqueArray(
	fc.oneof(
		listed,
		host.map((name) => `brands ${name}`),
		fc.constantFrom("", "brands[x]", "others[7]", "brands[1"),
	),
	{
		maxLength: 8,
	},
);

/** The faults of brands by plain maps, in any order; of what stands twice only that it does. */
function faultsOf(brands: readonly [place: string, brand: Brand][]): string[] {
	const hosts = new Map<string, string>();
	const ids = new Map<number, string>();
	return brands.flatMap(([place, { domain, aliases, campaigns }]) => [
		...[domain, ...aliases].flatMap((name, at) => {
			const owner = hosts.get(name) ?? domain;
			hosts.set(name, owner);
			return owner === domain ? [] : [`${place}${at === 0 ? ".domain" : `.aliases[${at - 1}]`}: ${name} is a host of ${owner} too`];
		}),
		...campaigns.flatMap(({ campaign_id: id }, at) => {
			const own = `${place}.campaigns[${at}].campaign_id`;
			const first = ids.get(id);
			if (first === undefined) ids.set(id, own);
			return first === undefined ? [] : [`${own}: is the same as ${first}`];
		}),
	]);
}

describe("unit: the index of a file", () => {
	it("finds hosts and campaigns that stand twice, and says where they stand first", () => {
		fc.assert(
			fc.property(places, fc.array(brand, { minLength: 8, maxLength: 8 }), (at, entries) => {
				const index = new FileIndex();
				const brands = at.map((place, of): [string, Brand] => [place, entries[of] as Brand]);
				const faults = brands.flatMap(([place, entry]) => index.claimBrand(entry as unknown as BrandEntry, place));
				const found = faults.map(({ path, message }) => `${path}: ${message}`);
				expect(found.filter((fault) => !fault.endsWith(".domain")).sort()).toEqual(faultsOf(brands).sort());
			}),
			{ numRuns: 300 },
		);
	});

	it("finds a brand that stands twice, and keys of other sections, each of its own", () => {
		const index = new FileIndex();
		const of = (domain: string) => ({ domain, aliases: [], campaigns: [] }) as unknown as BrandEntry;
		expect(index.claimBrand(of("a.example"), "brands[4]")).toEqual([]);
		expect(index.claimBrand(of("a.example"), "brands[9]")).toEqual([
			{ path: "brands[9].domain", message: "is the same as brands[4].domain" },
		]);
		expect(index.claimKey("product", "SKU-1", "products[0]", ".id")).toEqual([]);
		expect(index.claimKey("publisher", "SKU-1", "publishers[0]", ".id")).toEqual([]);
		expect(index.claimKey("product", "SKU-1", "products[7]", ".id")).toEqual([
			{ path: "products[7].id", message: "is the same as products[0].id" },
		]);
	});

	it("keeps the first place that names a platform", () => {
		const index = new FileIndex();
		const campaign = (campaign_id: number) => ({ campaign_id, platform: "west" });
		index.claimBrand({ domain: "a.example", aliases: [], campaigns: [campaign(1), campaign(2)] } as unknown as BrandEntry, "brands[3]");
		expect([...index.platformsUsed]).toEqual([["west", "brands[3].campaigns[0].platform"]]);
	});
});
