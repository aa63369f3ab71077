import { priceOf, priceToMicros } from "../../lib/money.ts";
import { localDay, utcDay } from "../../lib/time.ts";
import type { ClickMessage } from "../message.ts";
import { hasCap, rateSlotOf } from "./decide-pause.ts";
import type { Facts } from "./kept-facts.ts";

/** A click on its way into the database. */
export type ClickRow = {
	id: string;
	utcDay: string;
	/** Day on the clocks of the campaign. */
	localDay: string;
	/** Slot of ten seconds in which the campaign's pace counts it; null where the campaign has no cap. */
	rateSlot: number | null;
	/** In the order in which the insert reads them. */
	values: readonly (string | number | null)[];
};

/**
 * The rows of a batch, pure. Of messages with one id the first counts; of billable clicks with one hash the earliest, and the
 * others are duplicates.
 */
export function toRows(messages: readonly ClickMessage[], facts: Facts): ClickRow[] {
	const byId = new Map<string, ClickMessage>();
	for (const message of messages) if (!byId.has(message.id)) byId.set(message.id, message);
	const inOrder = [...byId.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
	const billed = new Set<string>();
	return inOrder.map((message) => {
		const repeated = message.reason === undefined && billed.has(message.hash);
		if (message.reason === undefined) billed.add(message.hash);
		return toRow(message, repeated ? "duplicate" : (message.reason ?? null), facts);
	});
}

function toRow(click: ClickMessage, reason: string | null, facts: Facts): ClickRow {
	const publisher = facts.publishers.get(click.publisher);
	const campaign = facts.campaigns.get(click.campaignId);
	const { texts = {} } = click;
	const bidMicros = click.bidMicros ?? priceToMicros(priceOf(campaign?.epcMicros ?? 0, publisher?.sharePpm ?? 0));
	return {
		id: click.id,
		utcDay: utcDay(click.at),
		localDay: localDay(campaign?.timezone ?? "UTC", click.at),
		rateSlot: campaign === undefined || !hasCap(campaign) ? null : rateSlotOf(click.at),
		values: [
			click.id,
			click.hash,
			click.kind,
			reason,
			click.at,
			publisher?.id ?? null,
			click.brandId,
			click.campaignId,
			campaign?.platform ?? null,
			texts.clickid ?? null,
			texts.subi ?? texts.psorc ?? null,
			texts.subi ?? null,
			texts.psorc ?? null,
			texts.pcat ?? null,
			texts.subid1 ?? null,
			texts.subid2 ?? null,
			texts.subid3 ?? null,
			texts.subid4 ?? null,
			texts.subid5 ?? null,
			texts.uid ?? null,
			texts.atag ?? null,
			bidMicros,
			publisher?.pricingModel ?? null,
			click.country ?? null,
			click.ipPrefix ?? null,
			click.userAgentHash ?? null,
		],
	};
}
