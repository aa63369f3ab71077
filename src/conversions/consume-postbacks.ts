/** Consumer of the `postbacks` queue. */
import { logError, logInfo } from "../lib/log.ts";
import { type PostbackMessage, readMessage } from "./message.ts";
import { type SettleDeps, settlePostbacks } from "./settle-postbacks.ts";
import { OvertakenError } from "./write-settlements.ts";

/** A part of a batch that is settled in one transaction: one parameter of a statement may hold 2 MB. */
const MOST_BYTES_AT_ONCE = 500_000;
const RETRY_SECONDS = 10;
/** When a conversion that outran its click is looked at for the first time; the sweep does the rest. */
const LOOK_AGAIN_SECONDS = 10;

export type ConsumeDeps = SettleDeps & {
	/** The POSTBACKS queue. */
	postbacks: Pick<Queue, "sendBatch"> | undefined;
};

type Item = { message: Message; body: PostbackMessage };

/** Settles a batch. What fails is retried, and ends among the dead letters; nothing is acknowledged before it is stored. */
export async function consumePostbacks(deps: ConsumeDeps, batch: MessageBatch): Promise<void> {
	const items: Item[] = [];
	for (const message of batch.messages) {
		const body = readMessage(message.body);
		if (body !== null) items.push({ message, body });
		else {
			// A later version may know it; else the dead letters keep it.
			logError("postbacks.unknown_format", new Error("a message of an unknown format"));
			message.retry({ delaySeconds: RETRY_SECONDS });
		}
	}
	for (const part of split(items)) await settlePart(deps, part);
}

async function settlePart(deps: ConsumeDeps, items: readonly Item[]): Promise<void> {
	try {
		const { changed, waiting } = await settlePostbacks(
			deps,
			items.map(({ body }) => body),
		);
		for (const { message } of items) message.ack();
		logInfo("postbacks.settled", { messages: items.length, conversions: changed, waiting: waiting.length });
		await lookAgainSoon(deps, waiting);
	} catch (error) {
		if (items.length > 1 && isOfOneMessage(error)) {
			// One that cannot be written must not hold up the others.
			for (const item of items) await settlePart(deps, [item]);
			return;
		}
		logError("postbacks.not_settled", error, { messages: items.length });
		for (const { message } of items) message.retry({ delaySeconds: RETRY_SECONDS });
	}
}

/** True for what a single message may have caused; a database that is away fails all of them alike. */
function isOfOneMessage(error: unknown): boolean {
	return error instanceof OvertakenError || !(error instanceof Error) || !/^D1_/.test(error.message) || error.message.includes("SQLITE_");
}

async function lookAgainSoon({ postbacks }: ConsumeDeps, keys: readonly { platform: string; txnid: string }[]): Promise<void> {
	if (postbacks === undefined || keys.length === 0) return;
	try {
		const messages = keys.map(({ platform, txnid }): { body: PostbackMessage; delaySeconds: number } => ({
			body: { format: 1, kind: "look_again", platform, txnid },
			delaySeconds: LOOK_AGAIN_SECONDS,
		}));
		await postbacks.sendBatch(messages);
	} catch (error) {
		// The sweep finds them a minute after they came in.
		logError("postbacks.look_again_not_sent", error, { count: keys.length });
	}
}

function split(items: readonly Item[]): Item[][] {
	const parts: Item[][] = [];
	let bytes = Number.POSITIVE_INFINITY;
	for (const item of items) {
		const size = JSON.stringify(item.body).length;
		if (bytes + size > MOST_BYTES_AT_ONCE) {
			parts.push([]);
			bytes = 0;
		}
		parts.at(-1)?.push(item);
		bytes += size;
	}
	return parts;
}
