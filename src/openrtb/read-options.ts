/**
 * What publishers may have read beyond the interface: fields of OpenRTB 2.5 and 2.6, in the places of either. As tolerant as
 * `readBidRequest`, and bounded like it: a list that is too long is told, never shortened.
 */

import { isObject } from "../lib/json.ts";
import { isPresent, isTooLong, isTrue, type Json, MAX_LIST_ENTRIES, object, positiveNumber, text, texts } from "./read-values.ts";

/**
 * The lists of keywords of user, site and app: `keywords`, and `kwarray` of 2.6, each entry of which is read as a list, too. Null where
 * they are longer than any auction takes.
 */
export function readKeywordLists(body: Json): readonly string[] | null {
	const places = [object(body.user), object(body.site), object(body.app)];
	if (places.some(({ kwarray }) => isTooLong(kwarray))) return null;
	const single = places.map(({ keywords }) => text(keywords)).filter((list) => list !== null);
	return [...single, ...places.flatMap(({ kwarray }) => texts(kwarray))];
}

/** Which categories of advertisers the auction takes, of one taxonomy of the IAB's. */
export type CategoryLists = { taxonomy: number; blocked: readonly string[]; allowed: readonly string[] };

/** `cattax` of the Content Category Taxonomy 1.0, of which lists are that name none, or none that can be read. */
const FIRST_TAXONOMY = 1;

/** `bcat`, `acat` and `cattax`; null where they are longer than any auction takes. */
export function readCategories(body: Json): CategoryLists | null {
	// OpenRTB wants one of them.
	if (entriesOf(body.bcat) + entriesOf(body.acat) > MAX_LIST_ENTRIES) return null;
	return { taxonomy: readTaxonomy(body.cattax), blocked: texts(body.bcat), allowed: texts(body.acat) };
}

function entriesOf(list: unknown): number {
	return Array.isArray(list) ? list.length : 0;
}

function readTaxonomy(value: unknown): number {
	const taxonomy = positiveNumber(value);
	return taxonomy !== null && Number.isInteger(taxonomy) ? taxonomy : FIRST_TAXONOMY;
}

export type SupplyNode = { asi: string; sid: string };
/** Null where it cannot be read: no list of nodes, none in it, or too many. */
export type SupplyChain = { complete: boolean; nodes: readonly SupplyNode[] } | null;

/** Far more than any chain has. */
const MAX_NODES = 100;

/** The supply chains of a request, `source.schain` of 2.6 and `source.ext.schain` of 2.5: none where neither is sent. */
export function readSupplyChains(body: Json): readonly SupplyChain[] {
	const source = object(body.source);
	return [source.schain, object(source.ext).schain].filter(isPresent).map(readChain);
}

function readChain(chain: unknown): SupplyChain {
	if (!isObject(chain) || !Array.isArray(chain.nodes) || chain.nodes.length === 0 || chain.nodes.length > MAX_NODES) return null;
	const nodes = chain.nodes.map((node): SupplyNode => {
		const { asi, sid } = object(node);
		return { asi: text(asi)?.trim().toLowerCase() ?? "", sid: text(sid)?.trim() ?? "" };
	});
	return { complete: isTrue(chain.complete), nodes };
}

/** `exp` of the first impression: seconds; null where none was sent. */
export function readExpiry(body: Json): number | null {
	const imp = Array.isArray(body.imp) ? body.imp[0] : body.imp;
	return positiveNumber(object(imp).exp);
}
