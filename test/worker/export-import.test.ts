/** Property: what is exported imports to no difference, and clears nothing, whatever the network; and an undo gives back what was. */
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importFile, NORTHWIND, OPERATOR_HEADERS, postNetwork } from "../support/network-import.ts";

const RUNS = Number(env.PROPERTY_RUNS) || 6;

const usd = (max = 999) =>
	fc.integer({ min: 0, max: max * 1_000_000 }).map((micros) => `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, "0")}`);
const name = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).filter((text) => text.trim() !== "" && !text.includes("\0"));
const orNull = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: null });
const country = fc.constantFrom("US", "GB", "DE", "CA");
const mode = fc.constantFrom("off", "flag", "unpaid");
const traffic = fc.record(
	{
		bot: mode,
		repeat: fc.oneof(mode, fc.record({ mode, minutes: fc.integer({ min: 1, max: 1_440 }) }, { requiredKeys: [] })),
		velocity: fc.record(
			{ visitor_per_hour: fc.integer({ min: 1, max: 50 }), network_per_hour: fc.integer({ min: 1, max: 1_000_000 }) },
			{ requiredKeys: [] },
		),
		data_centre: fc.record({ asns: fc.array(fc.nat(70_000), { maxLength: 3 }), use_default_list: fc.boolean() }, { requiredKeys: [] }),
	},
	{ requiredKeys: [] },
);

const learningMode = fc.constantFrom("off", "advise", "automatic");
const campaignLearning = fc.record(
	{
		mode: learningMode,
		pin: fc.boolean(),
		lowest_factor: fc.double({ min: 0.01, max: 1, noNaN: true }),
		highest_factor: fc.integer({ min: 1, max: 100 }),
		kappa: fc.record({ campaign: fc.integer({ min: 1, max: 50 }), campaign_publisher: fc.constant(2.5) }, { requiredKeys: [] }),
		allowance: usd(),
		creep: fc.constantFrom(0, 0.02),
	},
	{ requiredKeys: [] },
);
const networkLearning = fc.record(
	{
		mode: learningMode,
		highest_factor: fc.integer({ min: 1, max: 100 }),
		kappa: fc.record({ source: fc.integer({ min: 1, max: 50 }) }, { requiredKeys: [] }),
		rise: fc.constantFrom(1.1, 2),
		fall: fc.constantFrom(0.3, 0.9),
		publish_step: fc.constantFrom(0.01, 0.06),
		allowance: usd(),
		caution: fc.constantFrom(0, 1),
	},
	{ requiredKeys: [] },
);
const platformLearning = fc.constantFrom(
	{},
	{ arrivals: [{ days: 1, part: 0.5 }] },
	{
		arrivals: [
			{ days: 0.25, part: 0.1 },
			{ days: 45, part: 0.9 },
		],
		reversals: [{ days: 60, part: 0.2 }],
	},
);

const campaignFields = {
	merchant_id: fc.nat(1_000),
	platform: fc.constant("northwind"),
	country,
	active: fc.boolean(),
	homepage_url: orNull(fc.constant("https://track.example/c?sub={click_id}")),
	deeplink_url: orNull(fc.constant("https://track.example/d?sub={click_id}&to={deeplink}")),
	deeplink_verified: fc.boolean(),
	epc: orNull(usd()),
	default_keyword_epc: orNull(usd()),
	keyword_epc: fc.dictionary(fc.constantFrom("red", "__proto__", "prototype", "blue shoes", "été", "constructor"), usd(), { maxKeys: 4 }),
	commission_rate: orNull(name),
	flat_fee: orNull(usd()),
	rate_type: orNull(name),
	max_rate: orNull(name),
	daily_click_cap: orNull(fc.nat(1_000)),
	daily_budget: orNull(usd()),
	total_budget: orNull(usd()),
	budget_basis: orNull(fc.constantFrom("gross", "publisher")),
	timezone: fc.constantFrom("UTC", "America/New_York"),
	allowed_hours: orNull(fc.uniqueArray(fc.nat(23))),
	traffic: orNull(traffic),
	max_payout: orNull(usd()),
	epc_learning: orNull(campaignLearning),
};
const brandFields = {
	name,
	category: orNull(name),
	active: fc.boolean(),
	marketplace: fc.boolean(),
	new_deal: fc.boolean(),
	last_updated_date: orNull(fc.constantFrom("2026-11-01", "2024-02-29")),
	restricted_traffic: fc.uniqueArray(fc.constantFrom("Paid Search", "Email Spam", "Incentivized Traffic")),
	traffic_types: fc.uniqueArray(fc.constantFrom("Cashback", "Email")),
	blocked_countries: fc.array(country, { maxLength: 2 }),
	iab_categories: fc.array(fc.constantFrom("IAB1", "iab22-10", "7:473", "500:a-b"), { maxLength: 3 }),
};
const publisherFields = {
	name,
	revenue_share: fc.oneof(
		fc.integer({ min: 0, max: 1_000_000 }).map((ppm) => ppm / 1e6),
		fc.constantFrom("0.8", "0.000001"),
	),
	pricing_model: fc.constantFrom("CPA", "CPC"),
	openrtb_enabled: fc.boolean(),
	seat: orNull(name),
	callback_url: orNull(fc.constant("https://publisher.example/s2s?a={txnid}")),
	status: fc.constantFrom("active", "suspended"),
	amendments: fc.constantFrom("none", "pair"),
	privacy: fc.constantFrom("as_sent", "strip", "no_bid"),
	bid_pay_minutes: orNull(fc.integer({ min: 1, max: 600 })),
	response_profile: fc.constantFrom("contract", "full", null),
	openrtb: fc.constantFrom(
		null,
		{},
		{ keywords: true, bcat: false },
		{ bcat: true, bot_ua: true, exp: true, nbr: true, schain: {} },
		{ schain: { parties: [{ asi: "WWW.Exchange.example" }, { asi: "ssp.example", sid: " 1 " }] } },
	),
	traffic: orNull(traffic),
	epc_learning: orNull(fc.record({ mode: learningMode }, { requiredKeys: [] })),
	blocked_brands: fc.array(fc.record({ domain: fc.constantFrom("b-0.example", "other.example"), country: orNull(country) }), {
		maxLength: 2,
	}),
};
const platformFields = {
	name,
	currency: fc.constantFrom("USD", "EUR"),
	status_map: fc.dictionary(
		fc.constantFrom("settled", "__proto__", "prototype", "void", "Étude", "constructor"),
		fc.constantFrom("approved", "cancelled"),
	),
	max_payout: orNull(usd()),
	match_by_publisher_click_id: fc.boolean(),
	postback_secret: orNull(fc.constant("a secret of sixteen and more")),
	source_ranges: orNull(fc.constant(["203.0.113.0/24"])),
	negative_payout: fc.constantFrom("cancel", "adjust"),
	postbacks_per_minute: orNull(fc.integer({ min: 1, max: 600 })),
	epc_learning: orNull(platformLearning),
};

/** Some fields of some entries: what is left out keeps what a run before has stored. */
const file = fc.record({
	traffic: orNull(traffic),
	epc_learning: orNull(networkLearning),
	platforms: fc.record(platformFields, { requiredKeys: ["name"] }).map((fields) => [NORTHWIND, { id: "p-1", ...fields }]),
	publishers: fc
		.record(publisherFields, { requiredKeys: ["name", "revenue_share", "pricing_model"] })
		.map((fields) => [{ id: "acme", ...fields }]),
	brands: fc
		.array(
			fc.tuple(
				fc.record(brandFields, { requiredKeys: ["name"] }),
				fc.array(fc.record(campaignFields, { requiredKeys: ["merchant_id", "platform", "country"] }), { maxLength: 3 }),
				fc.boolean(),
			),
			{ maxLength: 3 },
		)
		.map((brands) =>
			brands.map(([fields, campaigns, campaigns_complete], at) => ({
				domain: `b-${at}.example`,
				...fields,
				aliases: at === 0 ? ["alias.example"] : [],
				campaigns: campaigns.map((campaign, number) => ({ campaign_id: at * 10 + number + 1, ...campaign })),
				campaigns_complete,
			})),
		),
	exchange_rates: fc.array(fc.integer({ min: 1, max: 9e9 }), { maxLength: 2 }).map((nanos) =>
		nanos.map((value, at) => ({
			currency: "EUR",
			date: `2026-11-0${at + 1}`,
			usd: `${Math.floor(value / 1e9)}.${String(value % 1e9).padStart(9, "0")}`,
		})),
	),
});

async function exported(): Promise<string> {
	const response = await exports.default.fetch("https://base.example/operator/network", { headers: OPERATOR_HEADERS });
	return response.text();
}

describe("worker: an exported network", () => {
	it("property: imports to no difference; and the undo of an import gives back what was before it", async () => {
		await fc.assert(
			fc.asyncProperty(file, async (network) => {
				const before = await exported();
				const { id, difference } = await importFile(network, "?yes=1");
				const after = await exported();
				const again = await postNetwork(after);
				expect(await again.json()).toMatchObject({ id: null, difference: { added: 0, changed: 0, removed: 0, entries: [] } });
				expect(after).not.toContain("a secret of sixteen");
				if (id === null) expect(after).toBe(before);
				// What is new stays: only what was there before comes back.
				if (id === null || difference.added > 0) return;
				const undone = await exports.default.fetch("https://base.example/operator/network/undo?yes=1", {
					method: "POST",
					headers: OPERATOR_HEADERS,
					body: JSON.stringify({ import: id }),
				});
				expect([undone.status, await exported()]).toEqual([200, before]);
				await importFile(network, "?yes=1");
				expect(await exported()).toBe(after);
			}),
			{ numRuns: RUNS, endOnFailure: true },
		);
	});
});
