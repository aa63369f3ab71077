/** The candidates of several keywords, as one list. */
import type { BookBrand } from "../campaign-book/book.ts";
import { mostEpcMicros } from "./pricing.ts";

/** Of one keyword, highest EPC first. */
export type KeywordCandidates = { keyword: string; brands: Iterable<BookBrand> };

type Head = { keyword: string; iterator: Iterator<BookBrand>; brand: BookBrand; epcMicros: number; campaignId: number };

/**
 * The candidates of all lists, highest keyword EPC first, then lowest campaign id, from the first again for whoever asks again. Each is read
 * when its turn comes. A campaign with several of the keywords comes once for each.
 */
export function mergeCandidates(lists: readonly KeywordCandidates[]): Iterable<BookBrand> {
	const [first] = lists;
	if (first !== undefined && lists.length === 1) return first.brands;
	return { [Symbol.iterator]: () => merge(lists) };
}

function* merge(lists: readonly KeywordCandidates[]): Generator<BookBrand> {
	const heads = lists.flatMap(({ keyword, brands }) => headOf(keyword, brands[Symbol.iterator]()) ?? []);
	while (heads.length > 0) {
		let at = 0;
		for (let other = 1; other < heads.length; other++) {
			if (goesBefore(heads[other] as Head, heads[at] as Head)) at = other;
		}
		const { keyword, iterator, brand } = heads[at] as Head;
		yield brand;
		const next = headOf(keyword, iterator);
		if (next === null) heads.splice(at, 1);
		else heads[at] = next;
	}
}

function goesBefore(one: Head, other: Head): boolean {
	return one.epcMicros > other.epcMicros || (one.epcMicros === other.epcMicros && one.campaignId < other.campaignId);
}

function headOf(keyword: string, iterator: Iterator<BookBrand>): Head | null {
	const next = iterator.next();
	if (next.done === true) return null;
	const [campaign] = next.value.campaigns;
	const epcMicros = campaign === undefined ? 0 : mostEpcMicros(campaign, keyword);
	return { keyword, iterator, brand: next.value, epcMicros, campaignId: campaign?.campaignId ?? 0 };
}
