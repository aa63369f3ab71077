import { isbot } from "isbot";
import { putBounded } from "./bounded-map.ts";

/** Longest part of a user agent that is looked at, in UTF-16 units. */
const MAX_LENGTH = 1_024;
/** Few strings are most of the traffic: what is known of them is kept, the first seen out first. */
const MAX_KEPT = 1_000;

/** How each call of ours to a publisher's address begins: that may be a link of its own, and in our own zone. */
export const CALLBACK_USER_AGENT = "Clickbourse-Callback/1";

const bots = new Map<string, boolean>();

/** Whether a user agent is a program's. None at all tells nothing. */
export function isBot(userAgent: string | null): boolean {
	if (userAgent === null || userAgent === "") return false;
	if (userAgent.startsWith(CALLBACK_USER_AGENT)) return true;
	// Nobody's browser has a longer one, and a part of it would keep all of it in memory.
	if (userAgent.length > MAX_LENGTH) return isbot(userAgent.slice(0, MAX_LENGTH));
	return bots.get(userAgent) ?? putBounded(bots, userAgent, isbot(userAgent), MAX_KEPT);
}
