import type { Steering } from "./stored.ts";

/** Conversions that a campaign's clicks of a week are expected to bring: with fewer it is starved, with more than enough it is fed. */
const STARVED_BELOW = 1;
const FED_ABOVE = 4;
const MAX_CREEP = 3;

/**
 * What a campaign is bid at above what is believed, from day to day: a campaign that wins no clicks can never be found to be worth more
 * than is believed. It rises slowly while the campaign is starved, and goes back by the same rate once clicks come. It moves bids alone,
 * and never what is reckoned with.
 * @param expected equivalent conversions that the clicks of the last 7 days are expected to bring
 * @param rate the part that it moves by a day; 0 ends it
 */
export function nextCreep(creep: number, expected: number, rate: number): number {
	if (rate === 0) return 1;
	if (expected < STARVED_BELOW) return Math.min(MAX_CREEP, creep * (1 + rate));
	if (expected > FED_ABOVE) return Math.max(1, creep / (1 + rate));
	return creep;
}

/** What a campaign's bids are raised by now: at once nothing where creep was ended, before any night has told. */
export function creepInForce(steering: Steering | null, rate: number): number {
	return rate === 0 ? 1 : (steering?.bidCreep ?? 1);
}
