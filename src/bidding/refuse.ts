/**
 * The answer where there is no bid. Why there is none tells of brands, of their blocks and caps: the code of the reason is in a header of
 * tests alone (`test` is 1) that bring an Access Key of their publisher, which has the option `openrtb.nbr`.
 */
import type { BookPublisher } from "../campaign-book/book.ts";
import { type CampaignBook, findByIdentity } from "../campaign-book/load.ts";
import { BookUnavailableError } from "../campaign-book/resident-shards.ts";
import { type WaitUntil, within } from "../lib/async.ts";
import { equalTexts, sha256Hex } from "../lib/bytes.ts";
import { NO_BID_CODES } from "../openrtb/no-bid.ts";
import { writeNoBid } from "../openrtb/write-response.ts";
import type { NoBid } from "./auction.ts";
import type { BiddingDeps } from "./deps.ts";
import { waitOf } from "./hold-auction.ts";

/** Undefined where it is unknown. */
type Asker = BookPublisher | undefined | Promise<BookPublisher | undefined>;

/** No key is longer: what is, is not hashed. */
const MAX_KEY_LENGTH = 256;

/** HTTP 204. @param asker who asks, looked up where it matters */
export function refuse(
	{ reason }: NoBid,
	isTest: boolean,
	headers: Headers,
	now: number,
	asker: () => Asker,
): Response | Promise<Response> {
	const key = isTest ? headers.get("accesskey") : null;
	return key === null ? writeNoBid() : refuseTest(reason, key, now, asker());
}

async function refuseTest(reason: NoBid["reason"], key: string, now: number, asker: Asker): Promise<Response> {
	const publisher = await asker;
	const isTold = publisher?.openRtb?.nbr === true && (await isKeyOf(publisher, key, now));
	return writeNoBid(isTold ? NO_BID_CODES[reason] : null);
}

async function isKeyOf({ accessKeys }: BookPublisher, key: string, now: number): Promise<boolean> {
	if (key.length > MAX_KEY_LENGTH) return false;
	const hash = await sha256Hex(key);
	return accessKeys.some(({ h, u }) => equalTexts(h, hash) && (u === undefined || now < u));
}

/**
 * Who asks, enabled or not, where no auction was held that knows; undefined also while the book cannot be read, or not in time.
 * @param tmaxMs of the auction that began at `now`: no longer is waited than is left of it
 */
export function findAsker(
	deps: Pick<BiddingDeps, "book" | "now">,
	identity: string,
	now: number,
	tmaxMs: number | null,
	waitUntil: WaitUntil,
): Promise<BookPublisher | undefined> {
	const asker = lookUp(deps.book, identity, now, waitUntil);
	waitUntil(asker);
	return within(asker, waitOf(tmaxMs) - (deps.now() - now), undefined);
}

async function lookUp(book: CampaignBook, identity: string, now: number, waitUntil: WaitUntil): Promise<BookPublisher | undefined> {
	try {
		const snapshot = await book.snapshot(now, waitUntil);
		return snapshot === null ? undefined : await findByIdentity(snapshot, identity, now);
	} catch (error) {
		if (error instanceof BookUnavailableError) return undefined;
		throw error;
	}
}
