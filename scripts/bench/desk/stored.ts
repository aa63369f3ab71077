/** The rows that lists page through, made by SQL in the database itself: the same on both engines, and of one quarter, whatever their number. */
import type { Hex } from "../clicks/stored.ts";

const PUBLISHERS = 4;
export const PLATFORM = "northwind";
/** Of each of these there is one for so many clicks. */
const CLICKS_PER_CONVERSION = 8;
const CLICKS_PER_BRAND = 50;
/** Conversions in which each kind of them occurs, in the order in which it does throughout. */
const CONVERSIONS_PER_ROUND = 200;
/** Sizes are whole rounds, so that a page at the same place of any two sizes holds the same kinds of rows. */
export const CLICKS_PER_ROUND = CONVERSIONS_PER_ROUND * CLICKS_PER_CONVERSION;
const FIRST_AT = Date.UTC(2026, 7, 20);
const SPAN_MS = 90 * 86_400_000;
const RECEIVED_AFTER_MS = 7_200_000;
/** Fibonacci hashing, 32 bits: what follows each other is far apart. */
const SCATTER = 0x9e37_79b1;
const FIRST_CAMPAIGN_ID = 1_000;
/** Of rows that next to none are like, one in so many. */
const RARE = 50_000;

/** A FROM clause that gives the numbers from `from` up to below `to` as `n`. */
export type Series = (from: number, to: number) => string;
export type Engine = { hex: Hex; series: Series };

/** An INSERT of the rows from number `from` up to below `to`, of `rows`. */
type Table = { name: string; rows: number; insert: (from: number, to: number) => string };

/** Tables in the order in which they are filled; a click's number is also that of what belongs to it. */
export function deskTables(clicks: number, engine: Engine): Table[] {
	const { hex, series } = engine;
	const write = writerOf(clicks, engine);
	const conversions = clicks / CLICKS_PER_CONVERSION;
	const brands = clicks / CLICKS_PER_BRAND;
	const table = (name: string, rows: number, values: Record<string, string>): Table => ({
		name,
		rows,
		insert: (from, to) =>
			`INSERT INTO ${name} (${Object.keys(values).join(", ")}) SELECT ${Object.values(values).join(", ")} FROM ${series(from, to)}`,
	});
	const unattributed = `n % ${CONVERSIONS_PER_ROUND} IN (2, 3)`;
	const ofClick = (value: string) => `CASE WHEN ${unattributed} THEN NULL ELSE ${value} END`;
	const click = `(n * ${CLICKS_PER_CONVERSION} + n % ${PUBLISHERS})`;
	return [
		table("brands", brands, {
			...{ id: "n + 1", domain: `'brand-' || ${hex("n", 6)} || '.example'`, name: "'Brand ' || n", category: "'Books'" },
			...{ active: "1", marketplace: "0", new_deal: "0", aliases: "'[]'" },
			...{ restricted_traffic: "'[]'", traffic_types: `'["All"]'`, blocked_countries: "'[]'" },
		}),
		table("campaigns", brands, {
			...{ campaign_id: `${FIRST_CAMPAIGN_ID} + n`, brand_id: "n + 1", merchant_id: "n + 1", platform: `'${PLATFORM}'`, active: "1" },
			...{ country: "'US'", homepage_url: "'https://track.example/c?sub={click_id}'", deeplink_verified: "0", epc_micros: "420000" },
			...{ keyword_epc_micros: "'{}'", timezone: "'America/New_York'", allowed_hours: String(2 ** 24 - 1) },
		}),
		table("brand_changes", brands, {
			...{ brand_id: "n + 1", version: "n + 1", first_version: "n + 1", listing_version: "n + 1", rate_version: "n + 1" },
			...{ restrictions_version: "n + 1", details_version: "n + 1", listed: "1", rate_hash: "''", restrictions_hash: "''" },
			details_hash: "''",
		}),
		table("clicks", clicks, {
			...{ id: write.id("n"), click_hash: write.hash("n"), kind: "'openrtb'", clicked_at: write.at("n") },
			...{ publisher_id: write.publisher("n"), brand_id: write.brand("n"), campaign_id: `${FIRST_CAMPAIGN_ID} - 1 + ${write.brand("n")}` },
			...{ platform: `'${PLATFORM}'`, publisher_click_id: write.clickId("n"), source_id: write.source("n"), subi: write.source("n") },
			...{ bid_micros: "336000", revenue_micros: `CASE n % 2 WHEN 0 THEN 336000 ELSE 0 END`, pricing_model: write.model("n") },
			reason: `CASE WHEN n / ${PUBLISHERS} % ${RARE} = 7 THEN 'over_cap' WHEN n / ${PUBLISHERS} % 16 = 15 THEN 'repeat' END`,
			...{ country: "'US'", ip_prefix: "'203.0.113.0'", user_agent_hash: "'0123456789abcdef'", written_by: "''", sequence: "1" },
		}),
		table("conversions", conversions, {
			...{ platform: `'${PLATFORM}'`, txnid: "'order-' || n", cid: write.hash(click) },
			stage: `CASE n % ${CONVERSIONS_PER_ROUND} WHEN 1 THEN 'quarantined' WHEN 2 THEN 'waiting' WHEN 3 THEN 'unmatched' ELSE 'settled' END`,
			held_for: `CASE n % ${CONVERSIONS_PER_ROUND} WHEN 1 THEN 'amount' END`,
			status: `CASE WHEN n / ${PUBLISHERS} % ${RARE} = 7 THEN 'cancelled' WHEN n % 9 = 0 THEN 'pending' ELSE 'approved' END`,
			...{ status_unknown: "0", test: "0", event_at: `${write.at(click)} + 3600000`, payout_micros: "4000000", currency: "'USD'" },
			...{ usd_nanos: "1000000000", gross_micros: "4000000", sales_usd_micros: "50000000" },
			revenue_micros: "CASE n % 2 WHEN 0 THEN 0 ELSE 3200000 END",
			...{ attribution: ofClick("'click_hash'"), click_id: ofClick(write.id(click)), clicked_at: ofClick(write.at(click)) },
			...{ publisher_id: ofClick(write.publisher(click)), publisher_click_id: ofClick(write.clickId(click)) },
			...{ source_id: ofClick(write.source(click)), brand_id: ofClick(write.brand(click)) },
			...{ campaign_id: ofClick(`${FIRST_CAMPAIGN_ID} - 1 + ${write.brand(click)}`), pricing_model: ofClick(write.model(click)) },
			...{ revenue_share_ppm: "800000", event_count: "1", first_received_at: `${write.at(click)} + ${RECEIVED_AFTER_MS}` },
			...{ updated_at: `${write.at(click)} + 7200000`, version: "1", sequence: "n + 1" },
		}),
		table("conversion_events", conversions, {
			...{ platform: `'${PLATFORM}'`, txnid: "'order-' || n", seq: "1", at: `${write.at(click)} + 7200000`, kind: "'received'" },
			details: `'{"set":{"status":"approved"}}'`,
		}),
		table("conversion_changes", conversions, {
			...{ publisher_id: write.publisher(click), sequence: "n + 1", platform: `'${PLATFORM}'`, txnid: "'order-' || n" },
			...{ at: `${write.at(click)} + 7200000`, why: "'reported'", status: "'approved'", event_at: `${write.at(click)} + 3600000` },
			...{ revenue_micros: "3200000", gross_micros: "4000000", sales_usd_micros: "50000000", credited_micros: "3200000" },
		}),
		table("callbacks", conversions, {
			...{ id: write.id(click), platform: `'${PLATFORM}'`, txnid: "'order-' || n", seq: "1", publisher_id: write.publisher(click) },
			...{ status: "'approved'", cid: write.clickId(click), payout_micros: "3200000", event_at: `${write.at(click)} + 3600000` },
			state: `CASE WHEN n / ${PUBLISHERS} % ${RARE} = 7 THEN 'no_url' WHEN n % 500 = 7 THEN 'exhausted' ELSE 'delivered' END`,
			...{ attempt_count: "1", created_at: `${write.at(click)} + 7200000`, delivered_at: `${write.at(click)} + 7200000` },
		}),
		table("postback_intake", conversions, {
			...{ id: write.id(click), received_at: `${write.at(click)} + 7200000`, platform: `'${PLATFORM}'`, method: "'GET'", answer: "'{}'" },
			...{ query: "'txnid=order-' || n", txnid: "'order-' || n", cid: write.hash(click) },
			outcome: "CASE n % 50 WHEN 9 THEN 'invalid' ELSE 'accepted' END",
		}),
		table("audit", conversions, {
			...{
				id: write.id(click),
				at: write.at(click),
				role: "'manager'",
				request_id: "''",
				subject_kind: `CASE n % ${RARE} WHEN 7 THEN 'exchange_rate' ELSE 'brand' END`,
			},
			...{
				actor: `CASE n % ${RARE} WHEN 9 THEN 'rare' ELSE 'person-' || (n % 4) END`,
				verb: "CASE n % 2 WHEN 0 THEN 'importNetwork' ELSE 'changeBrand' END",
			},
			...{ subject_id: "'subject-' || (n % 100)" },
		}),
	];
}

/** What must be told of the rows as a whole. */
export function deskTotals(clicks: number): string[] {
	const conversions = clicks / CLICKS_PER_CONVERSION;
	return [
		`UPDATE report_sequence SET present = ${conversions + 1}, changes_from = 0`,
		`UPDATE catalogue_state SET changes_version = ${clicks / CLICKS_PER_BRAND + 1}`,
	];
}

/** The texts that a search finds the middle click by, as they are asked for. */
export function middleOf(clicks: number) {
	const conversion = clicks / CLICKS_PER_CONVERSION / 2;
	// Of the first publisher, and of a conversion that has its click.
	const number = conversion * CLICKS_PER_CONVERSION;
	const scattered = Number((BigInt(number + 1) * BigInt(SCATTER)) & 0xffff_ffffn)
		.toString(16)
		.padStart(8, "0");
	const at = FIRST_AT + number * Math.floor(SPAN_MS / clicks);
	const time = at.toString(16).padStart(12, "0");
	const hex = number.toString(16).padStart(12, "0");
	return {
		hash: scattered + number.toString(16).padStart(24, "0"),
		clickId: `click-${scattered}`,
		id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${hex}`,
		txnid: `order-${conversion}`,
		at,
		brand: `brand-${Math.floor(clicks / CLICKS_PER_BRAND / 2)
			.toString(16)
			.padStart(6, "0")}.example`,
	};
}

/** A time four fifths into the quarter: the page behind it has one of 100 conversions without a click, and one that waits for one. */
export function behindOf(clicks: number): number {
	const rounds = Math.floor((clicks / CLICKS_PER_ROUND) * 0.8);
	const click = (rounds * CONVERSIONS_PER_ROUND + CONVERSIONS_PER_ROUND / 4) * CLICKS_PER_CONVERSION;
	return FIRST_AT + click * Math.floor(SPAN_MS / clicks) + RECEIVED_AFTER_MS;
}

function writerOf(clicks: number, { hex }: Engine) {
	const at = (n: string) => `(${FIRST_AT} + ${n} * ${Math.floor(SPAN_MS / clicks)})`;
	const scattered = (n: string) => `((${n} + 1) * ${SCATTER} & 4294967295)`;
	return {
		at,
		id: (n: string) => `${hex(`${at(n)} >> 16`, 8)} || '-' || ${hex(`${at(n)} & 65535`, 4)} || '-7000-8000-' || ${hex(n, 12)}`,
		hash: (n: string) => `${hex(scattered(n), 8)} || ${hex(n, 24)}`,
		clickId: (n: string) => `'click-' || ${hex(scattered(n), 8)}`,
		publisher: (n: string) => `'p' || (${n} % ${PUBLISHERS})`,
		brand: (n: string) => `((${scattered(n)} >> 8) % ${clicks / CLICKS_PER_BRAND} + 1)`,
		source: (n: string) => `'source-' || (${n} / ${PUBLISHERS} % 40)`,
		model: (n: string) => `CASE ${n} % 2 WHEN 0 THEN 'CPC' ELSE 'CPA' END`,
	};
}
