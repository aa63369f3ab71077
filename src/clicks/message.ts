/**
 * The body of a message in the `clicks` queue: the contract between the redirect (which writes it) and the consumer.
 *
 * Two versions of the Worker read each other's messages: a new field must be optional, and what a reader does not know it
 * ignores. `format` changes only where an old reader would record something wrong; it keeps such a message as a dead letter,
 * to be replayed by the newer one.
 */
import * as v from "valibot";
import { LINK_TYPES, type LinkType, PRICING_MODELS, type PricingModel, TOKEN_KINDS, type TokenKind } from "../lib/enums.ts";
import { SHARE_SCALE } from "../lib/money.ts";
import { TRAFFIC_RULES, type TrafficRule, UNPAID_REASONS, type UnpaidReason } from "../lib/traffic-rules.ts";

export const CLICK_FORMAT = 1;

/** The publisher's own values on a click URL, and the marketplace tag of a product link. */
export const CLICK_TEXTS = ["clickid", "subi", "psorc", "pcat", "subid1", "subid2", "subid3", "subid4", "subid5", "uid", "atag"] as const;
export type ClickText = (typeof CLICK_TEXTS)[number];

export type ClickMessage = {
	format: typeof CLICK_FORMAT;
	/** Id of the redirect, time-ordered. The same id is the same click, however often its message comes. */
	id: string;
	/** When it was answered, Unix milliseconds. */
	at: number;
	/** Click hash: 32 hex characters, lower case. */
	hash: string;
	kind: TokenKind;
	/** Why the redirect already knows that the click is not paid; absent where it may be. */
	reason?: UnpaidReason | undefined;
	/** Traffic rules that hold and only flag. */
	flags?: TrafficRule[] | undefined;
	/** Publisher identity of the token. */
	publisher: string;
	brandId: number;
	/** The campaign that the user was sent to. */
	campaignId: number;
	/** Number of the platform whose link that was; absent where it has none: the consumer takes the campaign's present one. */
	platformId?: number | undefined;
	/** What the click is worth to the publisher, micro-dollars; absent where the redirect could not tell: the consumer computes it. */
	bidMicros?: number | undefined;
	/**
	 * How the publisher is paid, its share in parts per million, and what the click costs before that share, micro-dollars: as the bid
	 * promised, or as the book had it at the click on a link. Absent where neither tells: the consumer takes the present ones.
	 */
	pricingModel?: PricingModel | undefined;
	sharePpm?: number | undefined;
	grossMicros?: number | undefined;
	texts?: Partial<Record<ClickText, string>> | undefined;
	/** Country of the campaign that the user was sent to; of earlier versions that of the link (`cc`). */
	country?: string | undefined;
	/** The same as the campaign has it, where that is another. */
	campaignCountry?: string | undefined;
	/** The user's network: see `networkPrefix`. */
	ipPrefix?: string | undefined;
	/** First 16 hex characters of the SHA-256 of the user agent. */
	userAgentHash?: string | undefined;
	/** Keyed hash of the site of the user's connection: see `splitConnection`. Kept for two days, to tell repeats by. */
	connection?: string | undefined;
	/** Which network of the site; absent where that is an IPv4 address. */
	network?: string | undefined;
	/** The keyword that priced the bid, its beginning where it is long. */
	keyword?: string | undefined;
	/** The network that asked for the bid. */
	askedFrom?: string | undefined;
	/** Which link of its campaign it was priced by: of a bid the one that was asked for, else the one that the user was sent to. */
	link?: LinkType | undefined;
	/** `hashSource` of the source that the bid was asked for; absent where it is the click's own. */
	sourceHash?: string | undefined;
	/** Its user was erased while it was on its way. */
	erased?: boolean | undefined;
};

const text = v.pipe(v.string(), v.nonEmpty());
const amount = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const schema = v.object({
	format: v.literal(CLICK_FORMAT),
	id: text,
	at: amount,
	hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
	kind: v.picklist(TOKEN_KINDS),
	reason: v.optional(v.picklist(UNPAID_REASONS)),
	flags: v.optional(v.array(v.picklist(TRAFFIC_RULES))),
	publisher: text,
	brandId: amount,
	campaignId: amount,
	platformId: v.optional(amount),
	bidMicros: v.optional(amount),
	pricingModel: v.optional(v.picklist(PRICING_MODELS)),
	sharePpm: v.optional(v.pipe(amount, v.maxValue(SHARE_SCALE))),
	grossMicros: v.optional(amount),
	texts: v.optional(v.object(v.entriesFromList(CLICK_TEXTS, v.optional(v.string())))),
	country: v.optional(v.string()),
	campaignCountry: v.optional(v.string()),
	ipPrefix: v.optional(v.string()),
	userAgentHash: v.optional(v.string()),
	connection: v.optional(v.string()),
	network: v.optional(v.string()),
	keyword: v.optional(v.string()),
	askedFrom: v.optional(v.string()),
	link: v.optional(v.picklist(LINK_TYPES)),
	sourceHash: v.optional(v.string()),
	erased: v.optional(v.boolean()),
});

/** A read message, or the paths of what is wrong with it: never its values, which may be personal. */
export type ReadClick = { ok: true; click: ClickMessage } | { ok: false; faults: string };

/** Reads a message body. Unknown fields are ignored. */
export function readClickMessage(body: unknown): ReadClick {
	const result = v.safeParse(schema, body);
	if (result.success) return { ok: true, click: result.output as ClickMessage };
	return { ok: false, faults: [...new Set(result.issues.map((issue) => v.getDotPath(issue) ?? "body"))].join(", ") };
}
