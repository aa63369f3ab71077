/** From a request to a decision: finds the candidates in the campaign book, within the auction's time, and holds the auction. */
import type { BookBrand, BookPublisher } from "../campaign-book/book.ts";
import type { BookSnapshot, CampaignBook } from "../campaign-book/load.ts";
import { BookUnavailableError } from "../campaign-book/resident-shards.ts";
import { type WaitUntil, within } from "../lib/async.ts";
import { canonicalHost, hostAndParents } from "../lib/host.ts";
import { type AuctionRequest, type Decision, type NoBid, noBid, type Observer, runAuction } from "./auction.ts";
import { type KeywordCandidates, mergeCandidates } from "./keyword-candidates.ts";

export type AuctionDeps = {
	book: CampaignBook;
	waitUntil: WaitUntil;
	now: number;
	/** See `AuctionBook`. */
	vendorId?: number | undefined;
};

/** Part of `tmax` kept for the way back and the answer itself, in milliseconds. */
const TMAX_MARGIN_MS = 10;
/** How long a cold lookup may take where the request sets no time. */
const DEFAULT_WAIT_MS = 1_000;

const NO_BRANDS: readonly BookBrand[] = [];

/** What a request is once it is known whose it is, or why there is no bid. */
export type Laying = (publisher: BookPublisher) => AuctionRequest | NoBid;

type Found = BookPublisher | undefined | Promise<BookPublisher | undefined>;
type Candidates = Iterable<BookBrand> | Promise<Iterable<BookBrand>>;

/**
 * Decides a request of one publisher: at once where the book is resident, as on nearly every bid. Where the book does not
 * arrive in time the answer is a no-bid and loading continues in the background.
 * @param find picks the publisher from the book; undefined where it is unknown or not enabled
 * @param tmaxMs the time the auction gives, in milliseconds; null for the default
 * @param lay asked once the publisher is known; absent where that changes nothing
 */
export function holdAuction(
	deps: AuctionDeps,
	request: AuctionRequest,
	find: (snapshot: BookSnapshot) => Found,
	tmaxMs: number | null,
	lay?: Laying,
	observe?: Observer,
): Decision | Promise<Decision> {
	try {
		const snapshot = deps.book.snapshot(deps.now, deps.waitUntil);
		const made =
			snapshot instanceof Promise
				? snapshot.then((arrived) => decide(deps, request, arrived, find, lay, observe))
				: decide(deps, request, snapshot, find, lay, observe);
		return made instanceof Promise ? inTime(deps, tmaxMs, made) : made;
	} catch (error) {
		return unavailable(error);
	}
}

function decide(
	deps: AuctionDeps,
	request: AuctionRequest,
	snapshot: BookSnapshot | null,
	find: (snapshot: BookSnapshot) => Found,
	lay: Laying | undefined,
	observe: Observer | undefined,
): Decision | Promise<Decision> {
	if (snapshot === null) return noBid("book_unavailable");
	const publisher = find(snapshot);
	if (publisher === undefined) return noBid("publisher_not_enabled");
	if (publisher instanceof Promise) {
		// What is not in memory is read together, as nearly every request wants it.
		const brands = findCandidates(deps.book, snapshot, request);
		return Promise.all([publisher, brands]).then(([found, candidates]) => {
			if (found === undefined) return noBid("publisher_not_enabled");
			const laid = lay === undefined ? request : lay(found);
			if ("outcome" in laid) return laid;
			if (laid.keyword === request.keyword) return hold(deps, laid, found, candidates, observe);
			return decideOf(deps, laid, snapshot, found, observe);
		});
	}
	const laid = lay === undefined ? request : lay(publisher);
	return "outcome" in laid ? laid : decideOf(deps, laid, snapshot, publisher, observe);
}

function decideOf(
	deps: AuctionDeps,
	laid: AuctionRequest,
	snapshot: BookSnapshot,
	publisher: BookPublisher,
	observe: Observer | undefined,
): Decision | Promise<Decision> {
	const brands = findCandidates(deps.book, snapshot, laid);
	if (brands instanceof Promise) return brands.then((candidates) => hold(deps, laid, publisher, candidates, observe));
	return hold(deps, laid, publisher, brands, observe);
}

function hold(
	{ book, now, vendorId }: AuctionDeps,
	request: AuctionRequest,
	publisher: BookPublisher,
	brands: Iterable<BookBrand>,
	observe: Observer | undefined,
): Decision {
	const { learned } = book;
	return runAuction(request, { publisher, brands, isPaused: (campaignId) => book.isPaused(campaignId), learned, vendorId }, now, observe);
}

/**
 * The candidates of a request. A domain names the advertiser, and a keyword then only prices it: the brand of that very host,
 * or of its nearest parent. Without a domain, the campaigns that have an entry for a keyword.
 */
function findCandidates(book: CampaignBook, snapshot: BookSnapshot, request: AuctionRequest): Candidates {
	if (request.domain === null) {
		if (request.keyword !== null && typeof request.keyword !== "string") return findOfAll(book, snapshot, request.keyword);
		const found = request.keyword === null ? null : book.candidatesOf(snapshot, request.keyword);
		return found instanceof Promise ? found.then((brands) => brands ?? NO_BRANDS) : (found ?? NO_BRANDS);
	}
	const host = canonicalHost(request.domain);
	return host === null ? NO_BRANDS : findBrand(book, snapshot, hostAndParents(host), 0);
}

function findOfAll(book: CampaignBook, snapshot: BookSnapshot, keywords: ReadonlySet<string>): Candidates {
	const names = [...keywords];
	const found = names.map((keyword) => lookUp(book, snapshot, keyword));
	const join = (lists: readonly (Iterable<BookBrand> | null)[]): Iterable<BookBrand> => {
		const known = lists.flatMap((brands, at): KeywordCandidates[] => (brands === null ? [] : [{ keyword: names[at] as string, brands }]));
		return known.length === 0 ? NO_BRANDS : mergeCandidates(known);
	};
	const isHere = (list: (typeof found)[number]): list is Iterable<BookBrand> | null => !(list instanceof Promise);
	return found.every(isHere) ? join(found) : Promise.all(found).then(join);
}

/** What fails at once fails like the others: together. */
function lookUp(book: CampaignBook, snapshot: BookSnapshot, keyword: string): ReturnType<CampaignBook["candidatesOf"]> {
	try {
		return book.candidatesOf(snapshot, keyword);
	} catch (error) {
		return Promise.reject(error);
	}
}

function findBrand(book: CampaignBook, snapshot: BookSnapshot, hosts: readonly string[], at: number): Candidates {
	for (let i = at; i < hosts.length; i++) {
		const found = book.brandOf(snapshot, hosts[i] as string);
		if (found instanceof Promise) return found.then((brand) => (brand === null ? findBrand(book, snapshot, hosts, i + 1) : [brand]));
		if (found !== null) return [found];
	}
	return NO_BRANDS;
}

/** Waits for a decision no longer than the auction lasts. */
function inTime(deps: AuctionDeps, tmaxMs: number | null, pending: Promise<Decision>): Promise<Decision> {
	const settled = pending.catch(unavailable);
	deps.waitUntil(settled);
	return within(settled, waitOf(tmaxMs), noBid("timed_out"));
}

/** How long an answer may wait, in milliseconds. @param tmaxMs as {@link holdAuction} has it */
export function waitOf(tmaxMs: number | null): number {
	return tmaxMs === null ? DEFAULT_WAIT_MS : Math.min(DEFAULT_WAIT_MS, Math.max(0, tmaxMs - TMAX_MARGIN_MS));
}

function unavailable(error: unknown): Decision {
	if (error instanceof BookUnavailableError) return noBid("book_unavailable");
	throw error;
}
