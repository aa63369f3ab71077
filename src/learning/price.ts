import { HELD_SCALE, MAX_EPC_MICROS, priceOf, priceToMicros } from "../lib/money.ts";
import { keepNear, type Release } from "../lib/release.ts";
import type { LearningMode } from "./modes.ts";

/** The factors in force that make a cell's price, in the order in which they multiply the operator's number. */
type PriceFactors = { campaignKeyword: number; publisher: number; source: number; campaignPublisher: number; link: number };

export type PriceInput = {
	/** The operator's number, micro-dollars. */
	operatorMicros: number;
	factors: PriceFactors;
	mode: LearningMode;
	sharePpm: number;
	/** Null for a publisher who is paid by conversion: a bid to it costs nothing until one comes. */
	guards: { caution: number; overpaid: number } | null;
	/** See `nextCreep`. */
	creep: number;
	/** Where campaign or publisher was let go of lately. */
	release?: { release: Release; now: number } | null;
};

export type LearnedPrice = {
	/** What is reckoned with, and what would be if the mode were automatic. Gross, micro-dollars. */
	epcMicros: number;
	advisedEpcMicros: number;
	/** What is bid, in micro-dollars of whole ten-thousandths of a dollar. */
	bidMicros: number;
};

/** Factors of traffic are told to bids to this part. */
const PRECISION = 10_000;

/** A factor as bids are told of it. */
export function toldFactor(factor: number): number {
	return Math.round(factor * PRECISION) / PRECISION;
}

/**
 * EPC × guards × share → price, rounded where bids round: what is baked into the book, what that is worth of its traffic, and what guards
 * leave of it. Without evidence the EPC is the operator's, to the micro-dollar.
 */
export function priceCell({ operatorMicros, factors, mode, sharePpm, guards, creep, release = null }: PriceInput): LearnedPrice {
	const { campaignKeyword, publisher, source, campaignPublisher, link } = factors;
	const bakedMicros = Math.min(MAX_EPC_MICROS, Math.round(operatorMicros * campaignKeyword));
	const advisedEpcMicros = Math.round(bakedMicros * publisher * source * campaignPublisher * link);
	const near = release === null ? advisedEpcMicros : keepNear(advisedEpcMicros, operatorMicros, release.release, release.now);
	const epcMicros = mode === "automatic" ? near : operatorMicros;
	const guard = mode === "automatic" ? creep * (guards === null ? 1 : guards.caution * guards.overpaid) : 1;
	const held = Math.round(guard * HELD_SCALE) / HELD_SCALE;
	return { epcMicros, advisedEpcMicros, bidMicros: priceToMicros(priceOf(Math.round(epcMicros * held), sharePpm)) };
}
