/** What a factor was made of. Equivalents are conversions: dollars over what one weighs. */
export type FactorEvidence = {
	factor: number;
	/** Weighted clicks, and the part of their earnings that is known by now. */
	clicks: number;
	maturity: number;
	/** What those clicks were expected to have earned by now without this factor, and have earned. Micro-dollars, weighted. */
	expectedMicros: number;
	earnedMicros: number;
	/** The same as equivalent conversions, after what forgetting takes of their worth. */
	expected: number;
	observed: number;
	/** Of what was seen against the number that it started from: 0 is no evidence, 1 is nothing but. */
	weight: number;
};

export const NO_EVIDENCE: FactorEvidence = {
	factor: 1,
	clicks: 0,
	maturity: 0,
	expectedMicros: 0,
	earnedMicros: 0,
	expected: 0,
	observed: 0,
	weight: 0,
};

/** Sums of one factor's clicks, in equivalent conversions; `squared` is `expected` with squared forgetting. */
export type FactorSums = {
	expected: number;
	squared: number;
	observed: number;
	expectedMicros: number;
	earnedMicros: number;
	clicks: number;
	ripe: number;
};

export function emptySums(): FactorSums {
	return { expected: 0, squared: 0, observed: 0, expectedMicros: 0, earnedMicros: 0, clicks: 0, ripe: 0 };
}

/** f = (κq + O) / (κq + E) with q = E₂ / E: weighted sums count as the unweighted ones that would be as certain. */
export function readFactor(sums: FactorSums, kappa: number): FactorEvidence {
	const { expected, squared, observed, expectedMicros, earnedMicros, clicks, ripe } = sums;
	if (!(expected > 0)) return { ...NO_EVIDENCE, clicks, earnedMicros };
	const q = squared / expected;
	return {
		factor: (kappa * q + observed) / (kappa * q + expected),
		clicks,
		maturity: clicks === 0 ? 0 : ripe / clicks,
		expectedMicros,
		earnedMicros,
		expected: expected / q,
		observed: observed / q,
		weight: expected / (kappa * q + expected),
	};
}
