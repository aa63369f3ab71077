/** The columns of a click and where their values come from: the one list from which both the row and its INSERT are made. */
import { type clicks, ERASED } from "../../db/schema/clicks.ts";
import { normaliseClickId } from "../../lib/click-id.ts";
import type { DecidedClick } from "./click-state.ts";

/** What the database itself writes is not among them. */
type Columns = Omit<typeof clicks.$inferSelect, "sequence">;

const SOURCES: { readonly [Column in keyof Columns]: (decided: DecidedClick) => Columns[Column] } = {
	id: ({ click }) => click.id,
	clickHash: ({ click }) => click.hash,
	kind: ({ click }) => click.kind,
	reason: ({ reason }) => reason,
	clickedAt: ({ click }) => click.at,
	publisherId: ({ publisher }) => publisher?.id ?? null,
	brandId: ({ click }) => click.brandId,
	campaignId: ({ click }) => click.campaignId,
	platform: ({ platform }) => platform,
	publisherClickId: ({ click }) => readClickId(click.texts?.clickid),
	sourceId: ({ sourceId }) => sourceId,
	subi: ({ click }) => click.texts?.subi ?? null,
	psorc: ({ click }) => click.texts?.psorc ?? null,
	pcat: ({ click }) => click.texts?.pcat ?? null,
	subid1: ({ click }) => click.texts?.subid1 ?? null,
	subid2: ({ click }) => click.texts?.subid2 ?? null,
	subid3: ({ click }) => click.texts?.subid3 ?? null,
	subid4: ({ click }) => click.texts?.subid4 ?? null,
	subid5: ({ click }) => click.texts?.subid5 ?? null,
	uid: ({ click }) => click.texts?.uid ?? null,
	atag: ({ click }) => click.texts?.atag ?? null,
	bidMicros: ({ bidMicros }) => bidMicros,
	revenueMicros: ({ revenueMicros }) => revenueMicros,
	pricingModel: ({ pricingModel }) => pricingModel,
	revenueSharePpm: ({ sharePpm }) => sharePpm,
	grossMicros: ({ grossMicros }) => grossMicros,
	country: ({ click }) => click.country ?? null,
	ipPrefix: ({ click }) => click.ipPrefix ?? null,
	userAgentHash: ({ click }) => click.userAgentHash ?? null,
	flags: ({ flags }) => (flags.length === 0 ? null : flags.join(" ")),
	keyword: ({ click }) => click.keyword ?? null,
	askedFrom: ({ click }) => click.askedFrom ?? null,
	link: ({ click }) => click.link ?? null,
	keywordClass: ({ keywordClass }) => keywordClass,
	sourceHash: ({ sourceHash }) => sourceHash,
	writtenBy: ({ click }) => (click.erased === true ? ERASED : ""),
	voidedBy: () => null,
};

/** Earlier versions sent click ids as they came; one that is none as ids are read now stays what its publisher knows it by. */
function readClickId(text: string | undefined): string | null {
	return text === undefined ? null : (normaliseClickId(text) ?? text);
}

/** In the order in which a row holds them. */
export const CLICK_COLUMNS = Object.keys(SOURCES) as readonly (keyof Columns)[];

const READ: readonly ((decided: DecidedClick) => string | number | null)[] = Object.values(SOURCES);

/** The values of a click in the order of {@link CLICK_COLUMNS}: names in every row would double what a batch sends. */
export function readColumns(decided: DecidedClick): (string | number | null)[] {
	return READ.map((read) => read(decided));
}
