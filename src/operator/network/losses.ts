/** What an import turns off, clears, shortens or removes: all of it is counted, and the gravest is listed, that first. Pure. */
import { isObject } from "../../lib/json.ts";
import { DIFFERENCE_SECTIONS, type DifferenceSection, type Loss } from "./difference-answer.ts";
import type { FileEntry } from "./export-entry.ts";
import { MAX_LISTED } from "./listed.ts";

/** Fields without which there are fewer bids or sales, or nothing bounds what is paid or tells made-up sales. */
const GRAVE: ReadonlySet<string> = new Set([
	"access_key",
	"active",
	"aliases",
	"callback_url",
	"daily_budget",
	"daily_click_cap",
	"deeplink_url",
	"default_keyword_epc",
	"epc",
	"homepage_url",
	"keyword_epc",
	"match_by_publisher_click_id",
	"max_payout",
	"openrtb_enabled",
	"postback_secret",
	"publisher_key",
	"serving_engine_enabled",
	"source_ranges",
	"status",
	"status_map",
	"total_budget",
	"traffic",
]);

/** `reach` is the place of its section: the network's own settings reach everything, a platform more than a brand. */
type Rank = { isGrave: boolean; reach: number; price: number };

export class Losses {
	count = 0;
	readonly #kept: (Rank & { make: () => Loss })[] = [];

	/**
	 * @param field null where the entry is removed
	 * @param entry as it was before
	 * @param make what is listed: it takes time, and is made only where it is, once all have come
	 */
	add(section: DifferenceSection, field: string | null, entry: FileEntry, make: () => Loss): void {
		this.count++;
		const rank = { isGrave: field === null || GRAVE.has(field), reach: DIFFERENCE_SECTIONS.indexOf(section), price: priceOf(entry) };
		const place = this.#kept.findLastIndex((other) => !isGraver(rank, other)) + 1;
		if (place === MAX_LISTED) return;
		this.#kept.splice(place, 0, { ...rank, make });
		if (this.#kept.length > MAX_LISTED) this.#kept.pop();
	}

	/** The gravest first; what is as grave, as it came. */
	get items(): Loss[] {
		return this.#kept.map(({ make }) => make());
	}
}

function isGraver(one: Rank, other: Rank): boolean {
	if (one.isGrave !== other.isGrave) return one.isGrave;
	return one.reach === other.reach ? one.price > other.price : one.reach < other.reach;
}

/** The most that a campaign bids by, USD; 0 of what has no price. */
function priceOf({ epc, default_keyword_epc, keyword_epc }: FileEntry): number {
	const prices = [epc, default_keyword_epc, ...(isObject(keyword_epc) ? Object.values(keyword_epc) : [])];
	return prices.reduce<number>((most, price) => Math.max(most, Number(price ?? 0)), 0);
}
