/** Classes of payouts, half an octave each. */
const CLASSES_PER_OCTAVE = 2;

/** The class of a payout. @param micros above 0 */
export function sizeClassOf(micros: number): number {
	return Math.floor(CLASSES_PER_OCTAVE * Math.log2(micros));
}
