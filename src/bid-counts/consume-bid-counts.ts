/** The consumer of the isolates' counts of bids and no-bids: adds each message once. */
import { sql } from "drizzle-orm";
import { type BidCountsMessage, isBidCounts, readBidCounts } from "../bidding/counts-message.ts";
import { additionTo } from "../db/add-up.ts";
import { type Database, runTransaction } from "../db/client.ts";
import { insertRows } from "../db/json-rows.ts";
import { isConstraintError, OvertakenError } from "../db/overtaken.ts";
import { bidHours, bidMessages } from "../db/schema/bid-counts.ts";
import { keepDeadLetters } from "../dead-letters/keep-dead-letters.ts";
import type { NameKind } from "../lib/access-enums.ts";
import type { CountedEndpoint } from "../lib/enums.ts";
import { leastIdAt } from "../lib/ids.ts";
import { logError } from "../lib/log.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import { COUNTED_KNOWN_MS } from "./kept-for.ts";

export type BidCountsDeps = { db: Database; now: () => number };

type QueueMessage = { id: string; body: unknown; retry: () => void };

const MAX_TRIES = 5;

/** The name by which a publisher asks each endpoint. */
const NAMES: Record<CountedEndpoint, NameKind> = {
	openrtb: "publisher_identity",
	"serving-engine": "publisher_id",
	notice: "publisher_identity",
};

type Move = { hour: number; publisherId: string; endpoint: string; outcome: string; requests: number };
const ADDITION = additionTo<Move>(bidHours, ["hour", "publisherId", "endpoint", "outcome"], ["requests"]);

/** The messages of a batch that are counts, and the others. */
export function splitBidCounts<Message extends { body: unknown }>(messages: readonly Message[]): { counts: Message[]; others: Message[] } {
	const { counts = [], others = [] } = Object.groupBy(messages, ({ body }) => (isBidCounts(body) ? "counts" : "others"));
	return { counts, others };
}

/** Takes messages in any order, any number of times. Clicks of the same batch are not held up by a failure: it brings these messages again. */
export async function consumeBidCounts(deps: BidCountsDeps, messages: readonly QueueMessage[]): Promise<void> {
	if (messages.length === 0) return;
	try {
		const read = messages.map((message) => ({ message, counts: readBidCounts(message.body) }));
		const unreadable = read.flatMap(({ message: { id, body }, counts }) => (counts === null ? [{ id, body }] : []));
		if (unreadable.length > 0) {
			logError("bids.counts_unreadable", new Error("not a message of counts"), { count: unreadable.length });
			await keepDeadLetters(deps.db, "clicks", unreadable, deps.now());
		}
		const readable = read.flatMap(({ counts }) => (counts === null ? [] : [counts]));
		for (const part of splitByBytes(readable)) await countBids(deps, part);
	} catch (error) {
		logError("bids.counts_failed", error, { count: messages.length });
		for (const message of messages) message.retry();
	}
}

async function countBids({ db, now }: BidCountsDeps, given: readonly BidCountsMessage[]): Promise<void> {
	const earliest = leastIdAt(now() - COUNTED_KNOWN_MS);
	const byId = new Map(given.filter(({ id }) => id >= earliest).map((message) => [message.id, message]));
	const late = given.filter(({ id }) => id < earliest).length;
	if (late > 0) logError("bids.counts_late", new Error("nobody can tell whether these were counted"), { count: late });
	for (let tries = 1; byId.size > 0; tries++) {
		const [stored, names] = await readState(db, [...byId.values()]);
		for (const id of stored) byId.delete(id);
		const messages = [...byId.values()];
		const moves = messages.flatMap(({ counts }) =>
			counts.map(([hour, endpoint, requester, outcome, requests]): Move => {
				return { hour, publisherId: names.get(nameKey(NAMES[endpoint], requester)) ?? "", endpoint, outcome, requests };
			}),
		);
		if (messages.length === 0) return;
		try {
			await runTransaction(db, [
				insertRows(
					bidMessages,
					messages.map(({ id }) => ({ id })),
				),
				...ADDITION.statements(moves),
			]);
			return;
		} catch (error) {
			// Another consumer had one of them.
			if (!isConstraintError(error)) throw error;
			if (tries === MAX_TRIES) throw new OvertakenError("counts of bids were counted meanwhile", { cause: error });
		}
	}
}

async function readState(db: Database, messages: readonly BidCountsMessage[]): Promise<[stored: string[], names: Map<string, string>]> {
	const asked = messages.flatMap(({ counts }) => counts.map(([, endpoint, requester]) => requester && [NAMES[endpoint], requester]));
	const keys = [...new Set(asked.filter((key) => key !== "").map((key) => JSON.stringify(key)))].map((key) => JSON.parse(key));
	const [stored, names] = await runTransaction(db, [
		sql`SELECT m.id FROM json_each(${JSON.stringify(messages.map(({ id }) => id))}) j CROSS JOIN bid_messages m WHERE m.id = j.atom`,
		sql`SELECT n.kind, n.value, n.publisher_id AS "publisherId" FROM json_each(${JSON.stringify(keys)}) j CROSS JOIN publisher_names n
			WHERE n.kind = j.value ->> 0 AND n.value = j.value ->> 1`,
	]);
	const rows = (names?.results ?? []) as { kind: NameKind; value: string; publisherId: string }[];
	return [
		((stored?.results ?? []) as { id: string }[]).map(({ id }) => id),
		new Map(rows.map(({ kind, value, publisherId }) => [nameKey(kind, value), publisherId])),
	];
}

function nameKey(kind: NameKind, value: string): string {
	return `${kind} ${value}`;
}
