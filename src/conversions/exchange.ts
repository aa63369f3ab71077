/** Conversion money, in exact integer arithmetic. */
import { SHARE_SCALE } from "../lib/money.ts";

const NANOS_PER_UNIT = 1_000_000_000;

/** A dollar's own rate, billionths of a USD. */
export const USD_NANOS = NANOS_PER_UNIT;

/**
 * An amount in USD, micro-dollars, rounded half up; null where it is past what a double holds exactly.
 * @param micros millionths of a currency @param usdNanos what a unit of it is worth, billionths of a USD
 */
export function toUsdMicros(micros: number, usdNanos: number): number | null {
	return multiply(micros, usdNanos, NANOS_PER_UNIT);
}

/** The publisher's part of a gross amount, micro-dollars, rounded half up. @param sharePpm 0 to SHARE_SCALE */
export function shareOf(grossMicros: number, sharePpm: number): number {
	return multiply(grossMicros, sharePpm, SHARE_SCALE) ?? 0;
}

function multiply(amount: number, factor: number, scale: number): number | null {
	const twice = 2n * BigInt(amount) * BigInt(factor) + BigInt(scale);
	const divisor = 2n * BigInt(scale);
	// BigInt division cuts towards zero; half up is the floor.
	const rounded = twice / divisor - (twice % divisor < 0n ? 1n : 0n);
	const result = Number(rounded);
	return Number.isSafeInteger(result) ? result : null;
}
