/** The consumer of the `clicks` queue: decides which clicks are paid, writes each click once and counts it once. */
import type { Database } from "../../db/client.ts";
import { OvertakenError } from "../../db/overtaken.ts";
import { keepDeadLetters, type QueueMessage } from "../../dead-letters/keep-dead-letters.ts";
import { logError } from "../../lib/log.ts";
import { splitByBytes } from "../../lib/split-by-bytes.ts";
import { type ClickMessage, readClickMessage } from "../message.ts";
import { type CapDeps, type PacedState, pauseSpent, stateStatement } from "./caps.ts";
import { decideClicks } from "./decide-clicks.ts";
import { KeptFacts, type KnownFacts } from "./kept-facts.ts";
import { nearCaps } from "./near-caps.ts";
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
 * @param maxTries how often a part is decided again where others were faster; OvertakenError after that
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
	const kept = deps.facts ?? new KeptFacts();
	for (const part of splitByBytes(clicks)) {
		const known = await kept.read(deps.db, part, now);
		const states = await countClicks(deps.db, part, known, now, maxTries);
		await pauseSpent(deps, states, now);
	}
}

/** Decides and writes a batch; again where other clicks were counted meanwhile. Returns how the campaigns near their caps then stand. */
async function countClicks(
	db: Database,
	clicks: readonly ClickMessage[],
	known: KnownFacts,
	now: number,
	maxTries: number,
): Promise<PacedState[]> {
	const { facts } = known;
	for (let tries = 1; ; tries++) {
		const state = await readClickState(db, clicks, tries === 1 ? known : { facts, questions: [] });
		const decided = decideClicks(clicks, facts, state);
		if (decided.clicks.length === 0 && decided.unpaid.length === 0) return [];
		const capped = nearCaps(decided.clicks, state, now);
		try {
			return await writeClicks(db, decided, state, facts.placed, capped.length === 0 ? null : stateStatement(db.$client, capped, now));
		} catch (error) {
			if (!(error instanceof OvertakenError) || tries === maxTries) throw error;
		}
	}
}
