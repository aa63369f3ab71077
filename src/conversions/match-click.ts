import { type clicks, SHARED_ID } from "../db/schema/clicks.ts";
import type { Attribution, NoMatch, PricingModel } from "../lib/enums.ts";
import { MINUTE_MS } from "../lib/time.ts";
import { isNameOfClickId } from "./other-names.ts";

/** What settling needs of a click and of its publisher. */
export type CandidateClick = Pick<
	typeof clicks.$inferSelect,
	| "id"
	| "clickHash"
	| "reason"
	| "clickedAt"
	| "publisherId"
	| "brandId"
	| "campaignId"
	| "platform"
	| "publisherClickId"
	| "sourceId"
	| "pricingModel"
	| "writtenBy"
> & {
	/** The share that the click was made under, today's where an earlier version stored it; null where there is no such publisher. */
	revenueSharePpm: number | null;
	/** Today's, for clicks of earlier versions that name none. */
	publisherPricingModel: PricingModel | null;
	/** 1 for the click of a test bid, whatever it is unpaid for: such as a program's, or one ahead of a click. */
	isTest: number;
};

export type ClickMatch = { click: CandidateClick; attribution: Attribution; why: null } | { click: null; why: NoMatch };

/** More redirects than this under one publisher click id are never one click. */
export const MAX_CANDIDATES = 50;

const HASH = /^[0-9a-f]{32}$/i;

/** How far the clocks of a redirect and of the intake may be apart. */
const CLOCKS_APART_MS = MINUTE_MS;

/**
 * What programs write where they know no click id, and what they call sales that nobody brought: those would be of whoever gives a click
 * such an id.
 */
const NO_ID = new RegExp(
	`^(?:${[
		"null|nil|none|undefined|nan|n/?a|unknown|false|empty|blank|missing",
		"direct|organic|referral|other|default|unassigned|unattributed",
		"no[ _-]?click",
		"not[ _-]?(?:set|provided|available|found)",
		"no[ _-]?(?:click[ _-]?|sub[ _-]?)?id",
	]
		.flatMap((words) => [words, `\\((?:${words})\\)`])
		.join("|")}|\\(?direct\\)? ?/ ?\\(?none\\)?|\\[object object\\]|-1|[0._-]+)$`,
	"i",
);

/** What stands in the place of a click id that is erased, where no click is to be found by it. */
export const NAMES_NONE = "none";

/** Whether a click id is a word for none, or the name of one that nobody filled in: no click is found by it. */
export function saysNoId(cid: string): boolean {
	return NO_ID.test(cid) || isNameOfClickId(cid);
}

/** A click id as a click hash, lower case; null where it cannot be one. */
export function asClickHash(cid: string): string | null {
	return HASH.test(cid) ? cid.toLowerCase() : null;
}

/**
 * The click a postback speaks of: by its hash, else by the publisher's own click id where just one click of this platform, and one publisher, has it.
 * A platform only reports on clicks it was sent; a campaign without a platform is anybody's.
 * @param byHash redirects with this hash @param byPublisherClickId redirects with this publisher click id
 * @param toldAt when the sale was first told of, or another of this id for which no click was found, Unix ms: of a click made later it is
 * none, though that bears the id that was told
 */
export function matchClick(
	platform: string,
	byHash: readonly CandidateClick[],
	byPublisherClickId: readonly CandidateClick[],
	toldAt: number,
): ClickMatch {
	const hashed = choose(platform, byHash);
	if (hashed.click !== null) return { click: hashed.click, attribution: "click_hash", why: null };
	if (hashed.why !== "no_click") return hashed;
	// Anyone may call a link with another's click id: whose sale it is takes a person's word, whatever became of the clicks.
	if (new Set(byPublisherClickId.map(({ publisherId }) => publisherId)).size > 1) return { click: null, why: "ambiguous" };
	const possible = byPublisherClickId.filter(
		({ clickedAt, publisherClickId }) => clickedAt <= toldAt + CLOCKS_APART_MS && !saysNoId(publisherClickId ?? ""),
	);
	const named = choose(platform, possible);
	if (named.click === null) return named;
	const rival = possible.some(
		(click) =>
			isOf(platform, click) && click.clickHash !== named.click.clickHash && (click.reason === null) === (named.click.reason === null),
	);
	const isShared = possible.some((click) => isOf(platform, click) && click.writtenBy === SHARED_ID);
	if (rival || isShared || byPublisherClickId.length > MAX_CANDIDATES) return { click: null, why: "ambiguous" };
	return { click: named.click, attribution: "publisher_click_id", why: null };
}

function choose(
	platform: string,
	candidates: readonly CandidateClick[],
): { click: CandidateClick; why: null } | { click: null; why: NoMatch } {
	if (candidates.length === 0) return { click: null, why: "no_click" };
	const own = candidates.filter((click) => isOf(platform, click));
	if (own.length === 0) return { click: null, why: "other_platform" };
	const [click] = own
		.filter(({ revenueSharePpm }) => revenueSharePpm !== null)
		.sort((a, b) => rankOf(a.reason) - rankOf(b.reason) || a.clickedAt - b.clickedAt || (a.id < b.id ? -1 : 1));
	return click === undefined ? { click: null, why: "no_publisher" } : { click, why: null };
}

function isOf(platform: string, click: CandidateClick): boolean {
	return click.platform === null || click.platform === platform;
}

/**
 * In which order redirects of one click hash are preferred, by why they are not paid: the billed click first, then what comes nearest to one: clicks that were judged only after the redirect, a person's before a
 * program's, and a test last.
 */
const RANKS = [
	null,
	"voided",
	"over_budget",
	"over_cap",
	"velocity",
	"repeat",
	"expired",
	"duplicate",
	"other_device",
	"country",
	"blocked",
	"brand_stopped",
	"campaign_stopped",
	"publisher_suspended",
	"data_centre",
	"bot",
	"no_user_agent",
	"embedded",
	"prefetch",
	"head",
	"test",
] as const satisfies readonly CandidateClick["reason"][];
export function rankOf(reason: CandidateClick["reason"]): number {
	// Refuses to compile where a reason has no place among them.
	return RANKS.indexOf(reason satisfies (typeof RANKS)[number]);
}
