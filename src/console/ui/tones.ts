/** Which states are good and which are not, in one place. */
/** How a thing stands: well, waiting for something, wrong, at an end, or none of these. */
export type Tone = "good" | "waiting" | "bad" | "over" | "plain";

const WORDS: Readonly<Record<Exclude<Tone, "plain">, readonly string[]>> = {
	good: [
		"accepted",
		"active",
		"answered",
		"applied",
		"approved",
		"bid",
		"credited",
		"delivered",
		"granted",
		"live",
		"ok",
		"paid",
		"ready",
		"released",
		"resolved",
		"settled",
		"won",
	],
	waiting: ["due", "expiring", "late", "new", "open", "partial", "paused", "pending", "retrying", "unmatched", "waiting"],
	bad: [
		"blocked",
		"declined",
		"exhausted",
		"failed",
		"failing",
		"given_up",
		"invalid",
		"quarantined",
		"refused",
		"rejected",
		"stopped",
		"suspended",
		"unknown_key",
		"unpaid",
		"wrong",
	],
	over: [
		"archived",
		"cancelled",
		"closed",
		"ended",
		"expired",
		"ignored",
		"inactive",
		"no_url",
		"off",
		"removed",
		"retired",
		"revoked",
		"skipped",
		"used",
		"void",
		"voided",
		"withdrawn",
	],
};

const TONES = new Map(Object.entries(WORDS).flatMap(([tone, words]) => words.map((word) => [word, tone as Tone] as const)));

/** Plain where the word is not known. */
export function toneOf(word: string): Tone {
	return TONES.get(word.toLowerCase().replaceAll(" ", "_")) ?? "plain";
}
