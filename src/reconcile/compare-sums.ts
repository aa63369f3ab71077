/** Counters against the rows they were made of: pure. What was read of both at one moment goes in, what differs comes out. */
import { DAY_MS, HOUR_MS, localDay, MINUTE_MS } from "../lib/time.ts";

export const COUNTERS = [
	"daily_publishers",
	"daily_sources",
	"daily_campaigns",
	"daily_network",
	"campaign_days",
	"campaign_totals",
] as const;
export type Counter = (typeof COUNTERS)[number];

/** Sums, as the schema calls their columns. */
export type Sum =
	| "clickCount"
	| "clickRevenueMicros"
	| "clickGrossMicros"
	| "approvedCount"
	| "pendingCount"
	| "cancelledCount"
	| "spendMicros"
	| "conversionCount"
	| "conversionRevenueMicros"
	| "pendingRevenueMicros"
	| "grossMicros"
	| "salesMicros"
	| "adjustmentMicros";

type KeyName = "publisherId" | "sourceId" | "campaignId" | "brandId" | "platform" | "country" | "kind" | "reason";

type Shape = { key: readonly KeyName[]; ofClicks: readonly Sum[]; ofOthers: readonly Sum[] };

const CLICK_SUMS = ["clickCount", "clickRevenueMicros"] as const;
const SPEND = ["clickCount", "spendMicros", "grossMicros"] as const;
const AMOUNTS = ["conversionRevenueMicros", "pendingRevenueMicros", "grossMicros", "salesMicros"] as const;
const CONVERSION_SUMS = ["conversionCount", ...AMOUNTS] as const;

/** What tells rows of a day apart, and which of their sums come of clicks: where old clicks are gone, those cannot be compared. */
export const SHAPES: Readonly<Record<Counter, Shape>> = {
	daily_publishers: { key: ["publisherId"], ofClicks: CLICK_SUMS, ofOthers: [...CONVERSION_SUMS, "adjustmentMicros"] },
	daily_sources: { key: ["publisherId", "sourceId"], ofClicks: CLICK_SUMS, ofOthers: CONVERSION_SUMS },
	daily_campaigns: { key: ["campaignId", "publisherId", "brandId"], ofClicks: CLICK_SUMS, ofOthers: CONVERSION_SUMS },
	daily_network: {
		key: ["campaignId", "publisherId", "brandId", "platform", "country", "kind", "reason"],
		ofClicks: [...CLICK_SUMS, "clickGrossMicros"],
		ofOthers: ["approvedCount", "pendingCount", "cancelledCount", ...AMOUNTS],
	},
	campaign_days: { key: ["campaignId"], ofClicks: SPEND, ofOthers: [] },
	campaign_totals: { key: ["campaignId"], ofClicks: [], ofOthers: SPEND },
};

type Key = Partial<Record<KeyName, string | number>>;
/** A row of a counter, or a group of rows that one sums. */
export type SumRow = Key & Partial<Record<Sum, number>>;

export type Difference = {
	counter: Counter;
	/** YYYY-MM-DD; null for totals. */
	day: string | null;
	key: Key;
	column: Sum;
	stored: number;
	/** What the rows give. */
	counted: number;
};

/** Paid clicks of a campaign within a quarter of an hour, which every time zone's day holds whole. */
export type QuarterRow = {
	campaignId: number;
	timezone: string;
	quarter: number;
	clickCount: number;
	spendMicros: number;
	grossMicros: number;
};

/** What the database says of a day, all of it at one moment. */
export type DayState = {
	day: string;
	/** Paid clicks by publisher, source, campaign and brand, of the UTC day; null where some of them are gone. */
	clicks: readonly SumRow[] | null;
	/** Conversions that count on the day for a publisher and a source: of one paid by clicks those of the day's clicks. */
	publisherConversions: readonly SumRow[];
	/** Those that count on it for a campaign, by the event. */
	campaignConversions: readonly SumRow[];
	/** Clicks of the day, paid or not, and settled conversions of it, as the network's own sums have them; clicks null where paid ones are gone. */
	networkClicks: readonly SumRow[] | null;
	networkConversions: readonly SumRow[];
	/** Unpaid clicks are removed before paid ones. */
	areUnpaidGone: boolean;
	/** Amounts by publisher. */
	adjustments: readonly SumRow[];
	/** Paid clicks of campaigns, of more than the day on any clock; null where some of them are gone. */
	quarters: readonly QuarterRow[] | null;
	/** When campaigns got other clocks, by id. */
	clocksChangedAt: ReadonlyMap<number, number>;
	stored: Readonly<Record<Exclude<Counter, "campaign_totals">, readonly SumRow[]>>;
};

const QUARTER_MS = 15 * MINUTE_MS;
/** How far clocks are ahead of UTC, and behind it, at the most. */
export const MOST_AHEAD_MS = 14 * HOUR_MS;
export const MOST_BEHIND_MS = 12 * HOUR_MS;

const DAILY = ["daily_publishers", "daily_sources", "daily_campaigns"] as const;

/** Every sum of a day that is not what its rows give. */
export function compareDay(state: DayState): Difference[] {
	const { day, clicks, publisherConversions, campaignConversions, adjustments, stored } = state;
	const differences = DAILY.flatMap((counter) => {
		const { ofClicks, ofOthers } = SHAPES[counter];
		const amounts = counter === "daily_publishers" ? adjustments : [];
		const conversions = counter === "daily_campaigns" ? campaignConversions : publisherConversions;
		const sums = clicks === null ? ofOthers : [...ofClicks, ...ofOthers];
		return compare(counter, day, sums, stored[counter], [...(clicks ?? []), ...conversions, ...amounts]);
	});
	return [...differences, ...compareNetwork(state), ...compareCampaignDays(state)];
}

function compareNetwork({ day, networkClicks, networkConversions, areUnpaidGone, stored }: DayState): Difference[] {
	const { ofClicks, ofOthers } = SHAPES.daily_network;
	const isTold = ({ reason }: SumRow) => !areUnpaidGone || reason === "" || reason === "voided";
	const sums = networkClicks === null ? ofOthers : [...ofClicks, ...ofOthers];
	const counted = [...(networkClicks ?? []), ...networkConversions].filter(isTold);
	return compare("daily_network", day, sums, stored.daily_network.filter(isTold), counted);
}

function compareCampaignDays({ day, quarters, clocksChangedAt, stored }: DayState): Difference[] {
	if (quarters === null) return [];
	// What is known of the campaign now says nothing of a day that began on other clocks.
	const isTold = ({ campaignId }: SumRow) => {
		const changedAt = clocksChangedAt.get(Number(campaignId));
		return changedAt === undefined || changedAt + DAY_MS <= Date.parse(day) - MOST_AHEAD_MS;
	};
	const counted = quarters.filter((row) => localDay(row.timezone, row.quarter * QUARTER_MS) === day && isTold(row));
	return compare("campaign_days", day, SHAPES.campaign_days.ofClicks, stored.campaign_days.filter(isTold), counted);
}

/** Totals against the days they are made of, which are kept for good. */
export function compareTotals(stored: readonly SumRow[], days: readonly SumRow[]): Difference[] {
	return compare("campaign_totals", null, SHAPES.campaign_totals.ofOthers, stored, days);
}

function compare(
	counter: Counter,
	day: string | null,
	sums: readonly Sum[],
	stored: readonly SumRow[],
	counted: readonly SumRow[],
): Difference[] {
	const { key } = SHAPES[counter];
	const present = addUp(key, sums, stored);
	const right = addUp(key, sums, counted);
	return [...new Set([...present.keys(), ...right.keys()])].sort().flatMap((id) => {
		const values: (string | number)[] = JSON.parse(id);
		const named: Key = Object.fromEntries(key.map((name, at) => [name, values[at]]));
		return sums.flatMap((column) => {
			const difference = { stored: present.get(id)?.[column] ?? 0, counted: right.get(id)?.[column] ?? 0 };
			return difference.stored === difference.counted ? [] : [{ counter, day, key: named, column, ...difference }];
		});
	});
}

/** Sums by key, a JSON array of its values. */
function addUp(key: readonly KeyName[], sums: readonly Sum[], rows: readonly SumRow[]): Map<string, Partial<Record<Sum, number>>> {
	const groups = new Map<string, Partial<Record<Sum, number>>>();
	for (const row of rows) {
		const id = JSON.stringify(key.map((name) => row[name]));
		const group = groups.get(id) ?? {};
		groups.set(id, group);
		for (const sum of sums) group[sum] = (group[sum] ?? 0) + (row[sum] ?? 0);
	}
	return groups;
}
