/** Consumer of the `postbacks` queue. */
import { keepUnreadable } from "../dead-letters/keep-unreadable.ts";
import type { KeyOwners } from "../keys/key-owners.ts";
import { isAwayError } from "../lib/away.ts";
import { logError, logInfo } from "../lib/log.ts";
import { claimPostbacks } from "./claim-postbacks.ts";
import { type PostbackItem, type PostbackMessage, readMessage } from "./message.ts";
import { type SettleDeps, settleApart } from "./settle-postbacks.ts";

/** A part of a batch that is settled in one transaction: one parameter of a statement may hold 2 MB. */
const MAX_TRANSACTION_BYTES = 500_000;
/** When a conversion that outran its click is looked at again: a click is stored within two seconds or so. The sweep does the rest. */
const LOOK_AGAIN_SECONDS = [3, 12];
/** Most messages that a queue takes at once. */
const MAX_SENT = 100;

export type ConsumeDeps = SettleDeps & {
	/** The POSTBACKS queue. */
	postbacks: Pick<Queue, "sendBatch"> | undefined;
	keys: Pick<KeyOwners, "findPlatformByHash">;
};

/** A message, and what it holds: it is acknowledged when all of that is settled. */
type Parcel = { message: Message; items: readonly PostbackItem[] };

/** Settles a batch. What fails is retried, and ends among the dead letters; nothing is acknowledged before it is stored. */
export async function consumePostbacks(deps: ConsumeDeps, batch: MessageBatch): Promise<void> {
	const parcels: Parcel[] = [];
	const unreadable: Message[] = [];
	let isAway = false;
	for (const message of batch.messages) {
		const items = readMessage(message.body);
		if (items === null) {
			unreadable.push(message);
			continue;
		}
		// Each would wait as long for the same database.
		if (isAway && items.some(({ kind }) => kind === "unclaimed")) {
			message.retry();
			continue;
		}
		try {
			parcels.push({ message, items: await claimPostbacks(deps.keys, items) });
		} catch (error) {
			isAway = isAwayError(error);
			logError("postbacks.not_claimed", error);
			message.retry();
		}
	}
	await keepUnreadable(deps, "postbacks", unreadable);
	for (const part of split(parcels)) await settlePart(deps, part);
}

/** One that cannot be written must not hold up the others. What is settled already is passed over when its message comes again. */
async function settlePart(deps: ConsumeDeps, parcels: readonly Parcel[]): Promise<void> {
	const items = parcels.flatMap((parcel) => parcel.items);
	const failed = new Set<PostbackItem>();
	const { changed, waiting } = await settleApart(deps, items, (some, error) => {
		logError("postbacks.not_settled", error, { requests: requestsOf(some) });
		for (const item of some) failed.add(item);
	});
	for (const { message, items: own } of parcels) {
		if (own.some((item) => failed.has(item))) message.retry();
		else message.ack();
	}
	if (failed.size < items.length) {
		const settled = items.filter((item) => !failed.has(item));
		logInfo("postbacks.settled", { requests: requestsOf(settled), conversions: changed, waiting: waiting.length });
	}
	await lookAgainSoon(deps, waiting);
}

/** Ids of the requests that brought them: by these a log leads from a request to its callback. */
function requestsOf(items: readonly PostbackItem[]): string {
	return items.flatMap((item) => (item.kind === "postback" ? [item.intake.id] : [])).join(" ");
}

async function lookAgainSoon({ postbacks }: ConsumeDeps, keys: readonly { platform: string; txnid: string }[]): Promise<void> {
	if (postbacks === undefined || keys.length === 0) return;
	try {
		for (const delaySeconds of LOOK_AGAIN_SECONDS) {
			for (let start = 0; start < keys.length; start += MAX_SENT) {
				const bodies = keys.slice(start, start + MAX_SENT).map((key): PostbackMessage => ({ format: 1, kind: "look_again", ...key }));
				await postbacks.sendBatch(
					bodies.map((body) => ({ body })),
					{ delaySeconds },
				);
			}
		}
	} catch (error) {
		// The sweep finds them a minute after they came in.
		logError("postbacks.look_again_not_sent", error, { count: keys.length });
	}
}

function split(parcels: readonly Parcel[]): Parcel[][] {
	const parts: Parcel[][] = [];
	let bytes = Number.POSITIVE_INFINITY;
	for (const parcel of parcels) {
		const size = JSON.stringify(parcel.items).length;
		if (bytes + size > MAX_TRANSACTION_BYTES) {
			parts.push([]);
			bytes = 0;
		}
		parts.at(-1)?.push(parcel);
		bytes += size;
	}
	return parts;
}
