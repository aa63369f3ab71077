/**
 * Conversion money, in exact integer arithmetic. Amounts that are credited are whole ten-thousandths of a dollar: then reports,
 * which show four decimals, add up to the ledger (docs/decisions/0024-money-in-reports.md).
 */
import { MICROS_PER_USD, PRICE_SCALE, SHARE_SCALE } from "../lib/money.ts";

const NANOS_PER_UNIT = 1_000_000_000;
/** Micro-dollars in the least amount that is credited. */
const STEP_MICROS = MICROS_PER_USD / PRICE_SCALE;

/** A dollar's own rate, billionths of a USD. */
export const USD_NANOS = NANOS_PER_UNIT;

/**
 * An amount in USD, micro-dollars, rounded half up to a ten-thousandth of a dollar; null where it is past what a double holds exactly.
 * @param micros millionths of a currency @param usdNanos what a unit of it is worth, billionths of a USD
 */
export function toUsdMicros(micros: number, usdNanos: number): number | null {
	return multiply(micros, usdNanos, NANOS_PER_UNIT);
}

/**
 * The publisher's part of a gross amount, micro-dollars, rounded half up to a ten-thousandth of a dollar.
 * @param sharePpm 0 to SHARE_SCALE
 */
export function shareOf(grossMicros: number, sharePpm: number): number {
	return multiply(grossMicros, sharePpm, SHARE_SCALE) ?? 0;
}

function multiply(amount: number, factor: number, scale: number): number | null {
	const divisor = 2n * BigInt(scale) * BigInt(STEP_MICROS);
	const twice = 2n * BigInt(amount) * BigInt(factor) + divisor / 2n;
	// BigInt division cuts towards zero; half up is the floor.
	const steps = twice / divisor - (twice % divisor < 0n ? 1n : 0n);
	const result = Number(steps) * STEP_MICROS;
	return Number.isSafeInteger(result) ? result : null;
}
