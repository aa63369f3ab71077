import { claimPostbacks } from "../../conversions/claim-postbacks.ts";
import { readMessage } from "../../conversions/message.ts";
import { isObject } from "../../lib/json.ts";

export type PlatformKeys = Parameters<typeof claimPostbacks>[0];

/**
 * The same messages, but of postbacks that were taken while no key could be looked up, those that are to be erased as their consumer
 * would have them: what their platform has signed is then no longer needed, and what their ids mean to it is known. One that is no
 * platform's now stays as it is, unless it has something signed.
 * @param isErased whether a postback that names this click id is to be erased
 * @throws Error where the keys cannot be read
 */
export async function claimMessages(keys: PlatformKeys, value: unknown, isErased: (cid: unknown) => boolean): Promise<unknown> {
	if (Array.isArray(value)) return Promise.all(value.map((item) => claimMessages(keys, item, isErased)));
	if (!isObject(value)) return value;
	// What KV keeps as dead letters.
	if (value.body !== undefined) return { ...value, body: await claimMessages(keys, value.body, isErased) };
	const isWanted = value.kind === "unclaimed" && isObject(value.intake) && isErased(value.intake.cid);
	const items = isWanted ? readMessage(value) : null;
	if (items === null) return value;
	const [claimed] = await claimPostbacks(keys, items);
	const isRefused = claimed?.kind !== "postback" || claimed.postback === null;
	return isRefused && value.sent === "" ? value : claimed;
}
