import { type ClickCurves, clickCurves, type DelayCurves, maturityAt, type PlatformCurves } from "../../src/learning/delay-curve.ts";
import { HISTORY_DAYS } from "../../src/learning/settings.ts";

/** What of clicks' earnings is known, by their age in days. */
export function maturities(curves: DelayCurves | ClickCurves): number[] {
	const known = "reversals" in curves ? clickCurves(curves) : curves;
	return Array.from({ length: HISTORY_DAYS }, (_, age) => maturityAt(known, age));
}

/** The same of a publisher's clicks; of one that has no curves of its own nothing. */
export function maturitiesOf(curves: PlatformCurves | undefined, publisher: string): number[] {
	const own = curves?.ofPublishers?.[publisher];
	return own === undefined ? [] : maturities(own);
}
