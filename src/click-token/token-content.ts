/** What a click token says, and how it is written before it is encrypted (token.ts). */
import { PRICING_MODELS, type PricingModel, TOKEN_KINDS, type TokenKind } from "../lib/enums.ts";
import { beforeShare, SHARE_SCALE } from "../lib/money.ts";
import type { TrackingLink } from "./link-token.ts";

export type ClickToken = {
	kind: TokenKind;
	/** Publisher identity. */
	publisher: string;
	/** Internal brand id. */
	advertiserId: number;
	/** The brand's canonical domain: the campaign book is read by it. */
	domain: string;
	campaignId: number;
	/** Bid amount in micro-dollars; 0 for a test bid. */
	bidMicros: number;
	/** Always 0: the interface's typo id. */
	typoId: 0;
	/** Internal request id of the auction (`rtuli`). */
	auctionId: string;
	/** When it was minted, Unix milliseconds. */
	mintedAt: number;
	/** The bid answered a request with `test` = 1. */
	test: boolean;
	/** What is known of the device the bid was asked for (src/lib/device.ts). */
	device: number | null;
	/** The keyword that priced the bid, its beginning where it is long. */
	keyword: string | null;
	/** The network that asked for the bid: see `networkPrefix`. */
	askedFrom: string | null;
	/** What the bid promised: how the publisher is paid, and its share in parts per million. Null where that is not known. */
	pricingModel: PricingModel | null;
	sharePpm: number | null;
	/** What the click costs before the publisher's share, micro-dollars; 0 for a test bid. */
	grossMicros: number | null;
	/** A privacy signal of the bid request said no: nothing of the user is kept of the click. */
	stripped: boolean;
	/** The `clickid` of its URL is the user's id, not the publisher's. */
	userClickId: boolean;
	/** The bid was on a page of the brand's, and not on its homepage. Never so where an earlier version minted, nor without a pricing model. */
	deeplink: boolean;
	/** For how long a click is paid at most, seconds, as the auction asked; null where it set no bound. */
	lifeSeconds: number | null;
	/** `hashSource` of the source that the bid was asked for. Null in tests, and where an earlier version minted. */
	sourceHash: string | null;
};

const OF_A_LINK = {
	kind: "link",
	bidMicros: 0,
	typoId: 0,
	auctionId: "",
	mintedAt: 0,
	test: false,
	device: null,
	keyword: null,
	askedFrom: null,
	pricingModel: null,
	sharePpm: null,
	grossMicros: null,
	stripped: false,
	userClickId: false,
	deeplink: false,
	lifeSeconds: null,
	sourceHash: null,
} as const;

/** A tracking link is of no auction and of no time, and promises no amount. */
export function ofLink(link: TrackingLink | null): ClickToken | null {
	return link === null ? null : { ...link, ...OF_A_LINK };
}

/** What a token tells of its user, as bits; absent for nothing. */
const STRIPPED = 1;
const USER_CLICK_ID = 2;

/** A token's content as it is encrypted: a JSON array, by place. */
export function encodeContent(token: ClickToken): string {
	const fields: unknown[] = [
		TOKEN_KINDS.indexOf(token.kind),
		token.publisher,
		token.advertiserId,
		token.domain,
		token.campaignId,
		token.bidMicros,
		token.typoId,
		token.auctionId,
		token.mintedAt,
		// Of a test nothing is learned.
		token.test ? 1 : (token.sourceHash ?? 0),
		token.device,
		token.keyword,
		token.askedFrom,
		// Beyond the last of a bid on a page: no longer, and for earlier versions the publisher's model of now.
		token.pricingModel === null ? null : PRICING_MODELS.indexOf(token.pricingModel) + (token.deeplink ? PRICING_MODELS.length : 0),
		// As a decimal: nearly every share is shorter so.
		token.sharePpm === null ? null : token.sharePpm / SHARE_SCALE,
	];
	const user = (token.stripped ? STRIPPED : 0) | (token.userClickId ? USER_CLICK_ID : 0);
	const hasMore = user !== 0 || token.lifeSeconds !== null;
	if (hasMore || token.grossMicros !== grossOf(token.bidMicros, token.sharePpm)) fields.push(token.grossMicros);
	if (hasMore) fields.push(token.lifeSeconds);
	if (user !== 0) fields.push(user);
	return JSON.stringify(fields);
}

/** Nearly always bid and share tell what the click costs: then the token need not. */
function grossOf(bidMicros: number, sharePpm: number | null): number | null {
	return sharePpm === null ? null : beforeShare(bidMicros, sharePpm);
}

/** The content that a decrypted text holds; null where it is of no kind that is known. */
export function decodeContent(text: string): ClickToken | null {
	// By place: to take an array apart by a pattern walks it by its iterator.
	const fields = JSON.parse(text);
	const kind = TOKEN_KINDS[fields[0]];
	if (kind === undefined || fields[6] !== 0) return null;
	const sharePpm = typeof fields[14] === "number" ? Math.round(fields[14] * SHARE_SCALE) : null;
	const deeplink = fields[13] >= PRICING_MODELS.length;
	return {
		kind,
		publisher: fields[1],
		advertiserId: fields[2],
		domain: fields[3],
		campaignId: fields[4],
		bidMicros: fields[5],
		typoId: 0,
		auctionId: fields[7],
		mintedAt: fields[8],
		test: fields[9] === 1,
		sourceHash: typeof fields[9] === "string" ? fields[9] : null,
		// Absent in tokens of earlier versions.
		device: fields[10] ?? null,
		keyword: fields[11] ?? null,
		askedFrom: fields[12] ?? null,
		pricingModel: PRICING_MODELS[deeplink ? fields[13] - PRICING_MODELS.length : fields[13]] ?? null,
		sharePpm,
		grossMicros: fields.length > 15 ? fields[15] : grossOf(fields[5], sharePpm),
		lifeSeconds: fields[16] ?? null,
		stripped: (fields[17] & STRIPPED) !== 0,
		userClickId: (fields[17] & USER_CLICK_ID) !== 0,
		deeplink,
	};
}
