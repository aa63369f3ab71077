/** The consumer of the `clicks` queue: writes each click once and counts it once. */
import type { Database } from "../../db/client.ts";
import { keepDeadLetters, type QueueMessage } from "../../dead-letters/keep-dead-letters.ts";
import { newUuid } from "../../lib/ids.ts";
import { logError } from "../../lib/log.ts";
import { splitByBytes } from "../../lib/split-by-bytes.ts";
import { type ClickMessage, readClickMessage } from "../message.ts";
import { type CapDeps, type ClickedCampaign, type PacedState, pauseSpent, stateStatement } from "./caps.ts";
import { type ClickRow, toRows } from "./click-rows.ts";
import { hasCap } from "./decide-pause.ts";
import { type Facts, type KeptFacts, readFacts } from "./kept-facts.ts";
import { writeStatements } from "./statements.ts";

export type ConsumeDeps = CapDeps & {
	/** What is known of publishers and campaigns from batch to batch; absent to ask the database each time. */
	facts?: KeptFacts;
};

/**
 * Takes messages in any order, any number of times. One transaction a batch (several for one of uncommonly long texts): a click that is written already changes nothing, and
 * the counters take only those that this batch has written. Then campaigns whose caps are met are paused. A body that is no click
 * becomes a dead letter and holds nothing up.
 * @throws whatever the database throws: the whole batch must come again, and what was written of it changes nothing
 */
export async function consumeClicks(deps: ConsumeDeps, messages: readonly QueueMessage[]): Promise<void> {
	const clicks: ClickMessage[] = [];
	const unreadable: QueueMessage[] = [];
	for (const message of messages) {
		const read = readClickMessage(message.body);
		if (read.ok) {
			clicks.push(read.click);
			continue;
		}
		logError("click.unreadable", new Error(`not a click message: ${read.faults}`), { message: message.id });
		unreadable.push(message);
	}
	if (unreadable.length > 0) await keepDeadLetters(deps.db, "clicks", unreadable, deps.now());
	if (clicks.length === 0) return;
	const now = deps.now();
	const facts = deps.facts === undefined ? await readFacts(deps.db, clicks) : await deps.facts.read(deps.db, clicks, now);
	for (const part of splitByBytes(clicks)) {
		const states = await writeClicks(deps.db, toRows(part, facts), cappedCampaigns(part, facts.campaigns), now);
		await pauseSpent(deps, states, now);
	}
}

/** The campaigns with a cap among those that were clicked, each with the time of its latest click. */
function cappedCampaigns(clicks: readonly ClickMessage[], known: Facts["campaigns"]): ClickedCampaign[] {
	const clicked = new Map<number, ClickedCampaign>();
	for (const { campaignId, at, reason } of clicks) {
		const campaign = known.get(campaignId);
		if (reason !== undefined || campaign === undefined || !hasCap(campaign)) continue;
		const latest = Math.max(at, clicked.get(campaignId)?.at ?? 0);
		clicked.set(campaignId, { campaignId, timezone: campaign.timezone, at: latest });
	}
	return [...clicked.values()];
}

/** Writes the rows of a batch, and reads in the same transaction how the campaigns with caps then stand. */
async function writeClicks(
	db: Database,
	rows: readonly ClickRow[],
	capped: readonly ClickedCampaign[],
	now: number,
): Promise<PacedState[]> {
	const statements = writeStatements(db.$client, rows, newUuid());
	if (capped.length > 0) statements.push(stateStatement(db.$client, capped, now));
	const results = await db.$client.batch(statements);
	return capped.length === 0 ? [] : ((results.at(-1)?.results ?? []) as PacedState[]);
}
