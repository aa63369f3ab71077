/** Classes of payouts, half an octave each. */
const CLASSES_PER_OCTAVE = 2;

/** Payouts that a person has confirmed stand apart: so much above the class of their size. */
export const CONFIRMED_CLASSES = 1_000;

/**
 * In rows: of the conversions of all sizes that were taken back. They are counted below zero, as earlier versions pass over such rows: of
 * others they would take the size.
 */
export const TAKEN_BACK_CLASS = -1;

/** The class of a payout. @param micros above 0 @param isConfirmed by a person, who let go of what was held */
export function sizeClassOf(micros: number, isConfirmed = false): number {
	return Math.floor(CLASSES_PER_OCTAVE * Math.log2(micros)) + (isConfirmed ? CONFIRMED_CLASSES : 0);
}

export function isConfirmed(sizeClass: number): boolean {
	return sizeClass >= CONFIRMED_CLASSES;
}
