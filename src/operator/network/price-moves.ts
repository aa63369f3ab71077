/** Prices and shares that an import moves by more than a factor of 2: all are counted, and those that tell most are listed. Pure. */
import { isObject, ownOf } from "../../lib/json.ts";
import type { PriceMove } from "./difference-answer.ts";
import { MAX_LISTED } from "./listed.ts";

const MAX_FACTOR = 2;
/** The least amount: a price of nothing is taken for it, so that one may move further from nothing than another. */
const LEAST = 0.000_001;
const PRICES: ReadonlySet<string> = new Set(["epc", "default_keyword_epc", "revenue_share"]);

type Entry = Readonly<Record<string, unknown>>;
type Move = Pick<PriceMove, "field" | "before" | "after"> & { factor: number; isRise: boolean };
/** `rank` is its place among its entry's, the one that moved furthest first; `at` that among all, as they came. */
type Ranked = { move: PriceMove; factor: number; rank: number; at: number };

export class PriceMoves {
	count = 0;
	/** Active campaigns, and publishers, of which one has risen. */
	readonly raised = { campaigns: 0, publishers: 0 };
	/** Of each section those that are listed if there are no others, in the order of {@link isAhead}. */
	readonly #bySection = new Map<PriceMove["section"], Ranked[]>();

	/** @param fields those of the entry that have changed */
	add(section: PriceMove["section"], id: string, fields: readonly string[], before: Entry, after: Entry): void {
		const moves = fields.flatMap((field) => movesOf(field, before, after));
		if (moves.length === 0) return;
		if (moves.some(({ isRise }) => isRise)) {
			if (section === "campaigns" && after.active === true) this.raised.campaigns++;
			if (section === "publishers") this.raised.publishers++;
		}
		const kept = this.#bySection.get(section) ?? [];
		this.#bySection.set(section, kept);
		const ranked = moves
			.map(({ factor, isRise: _, ...move }, place) => ({ move: { section, id, ...move }, factor, at: this.count + place }))
			.sort((one, other) => other.factor - one.factor);
		this.count += moves.length;
		for (const [rank, move] of ranked.slice(0, MAX_LISTED).entries()) keep(kept, { ...move, rank });
	}

	/** As they came: evenly of each section, and of a section that of each entry which moved furthest before its others. */
	get items(): PriceMove[] {
		return [...this.#bySection.values()]
			.flatMap((kept) => kept.map((ranked, place) => ({ ...ranked, place })))
			.sort((one, other) => one.place - other.place)
			.slice(0, MAX_LISTED)
			.sort((one, other) => one.at - other.at)
			.map(({ move }) => move);
	}
}

function keep(kept: Ranked[], ranked: Ranked): void {
	kept.splice(kept.findLastIndex((other) => !isAhead(ranked, other)) + 1, 0, ranked);
	if (kept.length > MAX_LISTED) kept.pop();
}

function isAhead(one: Ranked, other: Ranked): boolean {
	return one.rank === other.rank ? one.factor > other.factor : one.rank < other.rank;
}

/** A keyword without an entry has had, or will have, the campaign's price for such. */
function movesOf(field: string, before: Entry, after: Entry): Move[] {
	const moves: Move[] = [];
	const [old, present] = [before[field] ?? null, after[field] ?? null];
	if (PRICES.has(field)) note(moves, field, old, present);
	// Where there is no price for other keywords, the campaign's is.
	if (field === "default_keyword_epc" && (old === null) !== (present === null)) {
		note(moves, field, priceOfOthers(before), priceOfOthers(after));
	}
	if (field !== "keyword_epc" || !isObject(old) || !isObject(present)) return moves;
	const others = { before: priceOfOthers(before), after: priceOfOthers(after) };
	for (const [keyword, price] of Object.entries(old)) note(moves, field, price, ownOf(present, keyword) ?? others.after, keyword);
	for (const [keyword, price] of Object.entries(present))
		if (!Object.hasOwn(old, keyword)) note(moves, field, others.before, price, keyword);
	return moves;
}

function priceOfOthers(entry: Entry): unknown {
	return entry.default_keyword_epc ?? entry.epc ?? null;
}

function note(moves: Move[], field: string, before: unknown, after: unknown, keyword?: string): void {
	if (before === after || before === null || after === null) return;
	const [one, other] = [Number(before), Number(after)];
	const least = Math.min(one, other);
	const most = Math.max(one, other);
	if (most <= least * MAX_FACTOR) return;
	const name = keyword === undefined ? field : `${field}.${keyword}`;
	moves.push({ field: name, before: String(before), after: String(after), factor: most / Math.max(least, LEAST), isRise: other > one });
}
