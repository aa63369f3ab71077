/** The columns of a click and where their values come from: the one list from which both the row and its INSERT are made. */
import type { clicks } from "../../db/schema/clicks.ts";
import { priceOf, priceToMicros } from "../../lib/money.ts";
import type { ClickMessage } from "../message.ts";
import type { CampaignFacts, PublisherFacts } from "./kept-facts.ts";

type Columns = typeof clicks.$inferSelect;

/** What a row is made of. */
export type ClickSource = {
	click: ClickMessage;
	texts: NonNullable<ClickMessage["texts"]>;
	/** Why it does not count, as far as the batch can tell; the database may still know an earlier click of the hash. */
	reason: Columns["reason"];
	publisher: PublisherFacts | undefined;
	campaign: CampaignFacts | undefined;
};

/** The statement itself fills in the other two: see `writeStatements`. */
export type ClickColumn = Exclude<keyof Columns, "revenueMicros" | "writtenBy">;

const SOURCES: { readonly [Column in ClickColumn]: (source: ClickSource) => Columns[Column] } = {
	id: ({ click }) => click.id,
	clickHash: ({ click }) => click.hash,
	kind: ({ click }) => click.kind,
	reason: ({ reason }) => reason,
	clickedAt: ({ click }) => click.at,
	publisherId: ({ publisher }) => publisher?.id ?? null,
	brandId: ({ click }) => click.brandId,
	campaignId: ({ click }) => click.campaignId,
	platform: ({ campaign }) => campaign?.platform ?? null,
	publisherClickId: ({ texts }) => texts.clickid ?? null,
	sourceId: ({ texts }) => texts.subi ?? texts.psorc ?? null,
	subi: ({ texts }) => texts.subi ?? null,
	psorc: ({ texts }) => texts.psorc ?? null,
	pcat: ({ texts }) => texts.pcat ?? null,
	subid1: ({ texts }) => texts.subid1 ?? null,
	subid2: ({ texts }) => texts.subid2 ?? null,
	subid3: ({ texts }) => texts.subid3 ?? null,
	subid4: ({ texts }) => texts.subid4 ?? null,
	subid5: ({ texts }) => texts.subid5 ?? null,
	uid: ({ texts }) => texts.uid ?? null,
	atag: ({ texts }) => texts.atag ?? null,
	bidMicros: ({ click, campaign, publisher }) =>
		click.bidMicros ?? priceToMicros(priceOf(campaign?.epcMicros ?? 0, publisher?.sharePpm ?? 0)),
	pricingModel: ({ publisher }) => publisher?.pricingModel ?? null,
	country: ({ click }) => click.country ?? null,
	ipPrefix: ({ click }) => click.ipPrefix ?? null,
	userAgentHash: ({ click }) => click.userAgentHash ?? null,
};

/** In the order in which a row holds them. */
export const CLICK_COLUMNS = Object.keys(SOURCES) as readonly ClickColumn[];

const READ: readonly ((source: ClickSource) => string | number | null)[] = Object.values(SOURCES);

/** The values of a click in the order of {@link CLICK_COLUMNS}: names in every row would double what a batch sends. */
export function readColumns(source: ClickSource): (string | number | null)[] {
	return READ.map((read) => read(source));
}
