import { localDay, utcDay } from "../../lib/time.ts";
import type { ClickMessage } from "../message.ts";
import { type ClickSource, readColumns } from "./click-columns.ts";
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
	/** In the order of `CLICK_COLUMNS`. */
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

function toRow(click: ClickMessage, reason: ClickSource["reason"], facts: Facts): ClickRow {
	const publisher = facts.publishers.get(click.publisher);
	const campaign = facts.campaigns.get(click.campaignId);
	return {
		id: click.id,
		utcDay: utcDay(click.at),
		localDay: localDay(campaign?.timezone ?? "UTC", click.at),
		rateSlot: campaign === undefined || !hasCap(campaign) ? null : rateSlotOf(click.at),
		values: readColumns({ click, texts: click.texts ?? {}, reason, publisher, campaign }),
	};
}
