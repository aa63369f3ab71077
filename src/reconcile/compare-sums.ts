/** Counters against the rows they were made of: pure. What was read of both at one moment goes in, what differs comes out. */
import { DAY_MS, HOUR_MS, localDay, QUARTER_MS } from "../lib/time.ts";

export const COUNTERS = ["daily_publishers", "daily_sources", "daily_network", "campaign_days", "campaign_totals"] as const;
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
	| "pendingGrossMicros"
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
	daily_network: {
		key: ["campaignId", "publisherId", "brandId", "platform", "country", "kind", "reason"],
		ofClicks: [...CLICK_SUMS, "clickGrossMicros"],
		ofOthers: ["approvedCount", "pendingCount", "cancelledCount", ...AMOUNTS, "pendingGrossMicros"],
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

/** Counters of which a publisher is part of the key. */
export type PublisherCounter = (typeof PUBLISHER_COUNTERS)[number];
export const PUBLISHER_COUNTERS = ["daily_publishers", "daily_sources", "daily_network"] as const;

/** Rows of a counter, and what those that they sum give. */
export type Sides = { stored: readonly SumRow[]; counted: readonly SumRow[] };

/** What the database says of some publishers' day, all of it at one moment: rows that agree may be left out. */
export type PublishersState = {
	day: string;
	sides: Readonly<Record<PublisherCounter, Sides>>;
	/** Whether paid clicks of the day were removed: then their sums cannot be compared. */
	areClicksGone: boolean;
	/** Unpaid clicks are removed before paid ones. */
	areUnpaidGone: boolean;
};

/** Paid clicks of a campaign within a quarter of an hour, which every time zone's day holds whole. */
export type QuarterRow = {
	campaignId: number;
	quarter: number;
	clickCount: number;
	spendMicros: number;
	grossMicros: number;
};

/** How far clocks are ahead of UTC, and behind it, at the most. */
export const MAX_AHEAD_MS = 14 * HOUR_MS;
export const MAX_BEHIND_MS = 12 * HOUR_MS;

/** Every sum of some publishers' day that is not what its rows give. */
export function comparePublishers({ day, sides, areClicksGone, areUnpaidGone }: PublishersState): Difference[] {
	const isTold = ({ reason }: SumRow) => !areUnpaidGone || reason === undefined || reason === "" || reason === "voided";
	return PUBLISHER_COUNTERS.flatMap((counter) => {
		const { ofClicks, ofOthers } = SHAPES[counter];
		const { stored, counted } = sides[counter];
		return compare(counter, day, areClicksGone ? ofOthers : [...ofClicks, ...ofOthers], stored.filter(isTold), counted.filter(isTold));
	});
}

type Spend = { clickCount: number; spendMicros: number; grossMicros: number };

/** Adds up paid clicks of campaigns within a day on their own clocks. */
export class CampaignDay {
	readonly #day: string;
	readonly #timezones: ReadonlyMap<number, string>;
	readonly #sums = new Map<number, Spend>();
	/** By time zone, quarters that are of the day and those that are not. */
	readonly #quarters = new Map<string, Map<number, boolean>>();

	/** @param timezones of the campaigns, by id: clicks of others are passed over */
	constructor(day: string, timezones: ReadonlyMap<number, string>) {
		this.#day = day;
		this.#timezones = timezones;
	}

	add(rows: readonly QuarterRow[]): void {
		for (const { campaignId, quarter, clickCount, spendMicros, grossMicros } of rows) {
			const timezone = this.#timezones.get(campaignId);
			if (timezone === undefined || !this.#isOfDay(timezone, quarter)) continue;
			const sum = this.#sums.get(campaignId) ?? { clickCount: 0, spendMicros: 0, grossMicros: 0 };
			this.#sums.set(campaignId, sum);
			sum.clickCount += clickCount;
			sum.spendMicros += spendMicros;
			sum.grossMicros += grossMicros;
		}
	}

	get rows(): SumRow[] {
		return [...this.#sums].map(([campaignId, sums]) => ({ campaignId, ...sums }));
	}

	#isOfDay(timezone: string, quarter: number): boolean {
		const known = this.#quarters.get(timezone) ?? new Map<number, boolean>();
		this.#quarters.set(timezone, known);
		const isOfDay = known.get(quarter) ?? localDay(timezone, quarter * QUARTER_MS) === this.#day;
		known.set(quarter, isOfDay);
		return isOfDay;
	}
}

/** @param clocksChangedAt when campaigns got other clocks, by id */
export function compareCampaignDays(
	day: string,
	stored: readonly SumRow[],
	counted: readonly SumRow[],
	clocksChangedAt: ReadonlyMap<number, number>,
): Difference[] {
	// What is known of the campaign now says nothing of a day that began on other clocks.
	const isTold = ({ campaignId }: SumRow) => {
		const changedAt = clocksChangedAt.get(Number(campaignId));
		return changedAt === undefined || changedAt + DAY_MS <= Date.parse(day) - MAX_AHEAD_MS;
	};
	return compare("campaign_days", day, SHAPES.campaign_days.ofClicks, stored.filter(isTold), counted.filter(isTold));
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
