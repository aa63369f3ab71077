/** The consumer of the `clicks` queue: decides which clicks are paid, writes each click once and counts it once. */
import type { Database } from "../../db/client.ts";
import { OvertakenError } from "../../db/overtaken.ts";
import { keepDeadLetters, type QueueMessage } from "../../dead-letters/keep-dead-letters.ts";
import { logError } from "../../lib/log.ts";
import { splitByBytes } from "../../lib/split-by-bytes.ts";
import { type ClickMessage, readClickMessage } from "../message.ts";
import { type CapDeps, type ClickedCampaign, type PacedState, pauseSpent, stateStatement } from "./caps.ts";
import { type DecidedClick, decideClicks } from "./decide-clicks.ts";
import { hasCap } from "./decide-pause.ts";
import type { Facts } from "./facts.ts";
import { type KeptFacts, readFacts } from "./kept-facts.ts";
import { readClickState } from "./read-click-state.ts";
import { writeClicks } from "./write-clicks.ts";

export type ConsumeDeps = CapDeps & {
	/** What is known of publishers and campaigns from batch to batch; absent to ask the database each time. */
	facts?: KeptFacts;
};

/** Of a batch of the queue: after that the queue brings it again. */
const MAX_TRIES = 8;

/**
 * Takes messages in any order, any number of times. One transaction a batch (several for one of uncommonly long texts): a click that is
 * written already changes nothing. What is paid is decided on what the database says, and written only if that still holds. Then
 * campaigns whose caps are met are paused. A body that is no click becomes a dead letter and holds nothing up.
 * @param maxTries how often a part is decided anew where others were faster; OvertakenError after that
 * @throws whatever the database throws: the whole batch must come again, and what was written of it changes nothing
 */
export async function consumeClicks(deps: ConsumeDeps, messages: readonly QueueMessage[], maxTries = MAX_TRIES): Promise<void> {
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
		const states = await countClicks(deps.db, part, facts, now, maxTries);
		await pauseSpent(deps, states, now);
	}
}

/** Decides and writes a batch; again where other clicks were counted meanwhile. Returns how the campaigns with caps then stand. */
async function countClicks(
	db: Database,
	clicks: readonly ClickMessage[],
	facts: Facts,
	now: number,
	maxTries: number,
): Promise<PacedState[]> {
	for (let tries = 1; ; tries++) {
		const state = await readClickState(db, clicks, facts);
		const decided = decideClicks(clicks, facts, state);
		if (decided.clicks.length === 0 && decided.unpaid.length === 0) return [];
		const capped = cappedCampaigns(decided.clicks);
		try {
			return await writeClicks(db, decided, state.version, capped.length === 0 ? null : stateStatement(db.$client, capped, now));
		} catch (error) {
			if (!(error instanceof OvertakenError) || tries === maxTries) throw error;
		}
	}
}

/** The campaigns with a cap among those whose clicks count, each with the time of its latest one. */
function cappedCampaigns(decided: readonly DecidedClick[]): ClickedCampaign[] {
	const clicked = new Map<number, ClickedCampaign>();
	for (const { click, campaign, reason } of decided) {
		if (campaign === undefined || !hasCap(campaign)) continue;
		// One that is over a cap shows that bids still go out.
		if (reason !== null && reason !== "over_cap" && reason !== "over_budget") continue;
		const { campaignId } = click;
		const latest = Math.max(click.at, clicked.get(campaignId)?.at ?? 0);
		clicked.set(campaignId, { campaignId, timezone: campaign.timezone, at: latest });
	}
	return [...clicked.values()];
}
