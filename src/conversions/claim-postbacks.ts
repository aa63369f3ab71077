/** Finds out whose postbacks are that were taken while no key could be looked up, by the rules that the intake has. */
import type { KeyOwners } from "../keys/key-owners.ts";
import { findSenderFault } from "./check-sender.ts";
import { inBrief, type PostbackItem, type ReceivedPostback, type UnclaimedPostback } from "./message.ts";

/**
 * The same items, each with its platform. One that is no platform's stays in the ledger alone, with what was answered.
 * @throws Error where the keys can still not be read
 */
export function claimPostbacks(
	keys: Pick<KeyOwners, "findPlatformByHash">,
	items: readonly (PostbackItem | UnclaimedPostback)[],
): Promise<PostbackItem[]> {
	return Promise.all(items.map((item) => (item.kind === "unclaimed" ? claim(keys, item) : item)));
}

async function claim(keys: Pick<KeyOwners, "findPlatformByHash">, unclaimed: UnclaimedPostback): Promise<ReceivedPostback> {
	const { format, keyHash, sent, signature, address, intake, postback } = unclaimed;
	const sender = await keys.findPlatformByHash(keyHash, intake.receivedAt);
	if (sender === null) return { format, kind: "postback", intake: { ...inBrief(intake), outcome: "unknown_key" }, postback: null };
	const of = { ...intake, platform: sender.id };
	const fault = await findSenderFault(sender, { text: sent, signature: signature ?? undefined, address });
	if (fault !== null) return { format, kind: "postback", intake: { ...inBrief(of), outcome: "rejected" }, postback: null };
	return { format, kind: "postback", intake: of, postback };
}
