import { CONVERSION_STATUSES, type ConversionStatus } from "../lib/enums.ts";

/**
 * What the large networks and trackers say (docs/postbacks.md has the list, and where each is found). A platform's own map goes before it:
 * words that mean one thing here and another there, such as `lead` or Affise's `2`, are left to that.
 */
const WORDS: Record<ConversionStatus, string> = {
	approved: "approved approve confirmed confirm accepted valid validated paid locked closed sale bill payment 1",
	pending: "pending hold on_hold new open delayed extended unconfirmed approved_but_stalled 0",
	cancelled:
		"rejected reject declined decline denied disapproved refused invalid trash reversed reversal cancelled canceled cancel void voided " +
		"deleted expired returned return refunded refund rfnd chargeback charge_back cgbk insf fraud -1",
};
const COMMON: ReadonlyMap<string, ConversionStatus> = new Map(
	CONVERSION_STATUSES.flatMap((status) => WORDS[status].split(" ").map((word) => [word, status] as const)),
);

/**
 * What a network's status means: by the platform's map, else by what is common; letter case does not matter, nor in the latter
 * whether words are joined by a blank, a hyphen or an underscore. None is approved; one that nobody knows is pending, and flagged.
 */
export function readStatus(
	word: string | null,
	map: Readonly<Record<string, ConversionStatus>>,
): { status: ConversionStatus; unknown: boolean } {
	if (word === null) return { status: "approved", unknown: false };
	const wanted = word.toLowerCase();
	const own = Object.entries(map).find(([key]) => key.trim().toLowerCase() === wanted)?.[1];
	const status = own ?? COMMON.get(wanted.replaceAll(/(?<=[a-z])[ -]+(?=[a-z])/g, "_"));
	return status === undefined ? { status: "pending", unknown: true } : { status, unknown: false };
}
