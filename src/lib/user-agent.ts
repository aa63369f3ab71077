import { isbot } from "isbot";
import { putBounded } from "./bounded-map.ts";

/** Longest part of a user agent that is looked at, in UTF-16 units. */
const MAX_LENGTH = 1_024;
/** Few strings are most of the traffic: what is known of them is kept, the first seen out first. */
const MAX_KEPT = 1_000;

const bots = new Map<string, boolean>();

/** Whether a user agent is a program's. None at all tells nothing. */
export function isBot(userAgent: string | null): boolean {
	if (userAgent === null || userAgent === "") return false;
	const text = userAgent.slice(0, MAX_LENGTH);
	return bots.get(text) ?? putBounded(bots, text, isbot(text), MAX_KEPT);
}
