import type { ConversionStatus } from "../lib/enums.ts";

/** What networks commonly say. A platform's own map goes before it. */
const COMMON: Record<string, ConversionStatus> = {
	approved: "approved",
	confirmed: "approved",
	paid: "approved",
	locked: "approved",
	"1": "approved",
	pending: "pending",
	hold: "pending",
	new: "pending",
	open: "pending",
	"0": "pending",
	rejected: "cancelled",
	reversed: "cancelled",
	cancelled: "cancelled",
	canceled: "cancelled",
	declined: "cancelled",
	void: "cancelled",
	refunded: "cancelled",
	"-1": "cancelled",
};

/**
 * What a network's status means: by the platform's map, else by what is common; letter case does not matter. None is approved; one
 * that nobody knows is pending, and flagged.
 */
export function readStatus(
	word: string | null,
	map: Readonly<Record<string, ConversionStatus>>,
): { status: ConversionStatus; unknown: boolean } {
	if (word === null) return { status: "approved", unknown: false };
	const wanted = word.toLowerCase();
	const own = Object.entries(map).find(([key]) => key.trim().toLowerCase() === wanted)?.[1];
	const status = own ?? (Object.hasOwn(COMMON, wanted) ? COMMON[wanted] : undefined);
	return status === undefined ? { status: "pending", unknown: true } : { status, unknown: false };
}
