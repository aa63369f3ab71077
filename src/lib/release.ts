/**
 * Prices that were only advised and now are bid set out from the operator's numbers: what is bid stays within what a day's movement allows
 * since then, day by day, whatever was learned meanwhile.
 */
import { DAY_MS } from "./time.ts";

/** Since when, Unix milliseconds, and what a day's movement multiplies a price by, up and down. */
export type Release = { readonly since: number; readonly rise: number; readonly fall: number };

export type ReleaseWire = [since: number, rise: number, fall: number];

export function writeRelease({ since, rise, fall }: Release): ReleaseWire {
	return [since, rise, fall];
}

export function readRelease([since, rise, fall]: ReleaseWire): Release {
	return { since, rise, fall };
}

/** The later of two, if any. */
export function laterRelease(one: Release | null, other: Release | null): Release | null {
	if (one === null || other === null) return one ?? other;
	return one.since >= other.since ? one : other;
}

/** A learned EPC, as near as it may be to the operator's. Micro-dollars. */
export function keepNear(learnedMicros: number, operatorMicros: number, { since, rise, fall }: Release, now: number): number {
	const days = 1 + Math.max(0, Math.floor((now - since) / DAY_MS));
	return Math.min(Math.max(learnedMicros, Math.ceil(operatorMicros * fall ** days)), Math.floor(operatorMicros * rise ** days));
}

/** No price is expected to lie farther than this from the operator's number. */
const FARTHEST = 100;

/** Days after which a release holds nothing back any more. */
export function releaseDays({ rise, fall }: Pick<Release, "rise" | "fall">): number {
	return Math.ceil(Math.log(FARTHEST) / Math.min(Math.log(rise), -Math.log(fall)));
}
