/** Where a conversion is shown, and what lists have of its amount. */
import type { ConversionKey } from "../../conversions/conversion.ts";
import { segmentOf } from "../../lib/path-segment.ts";

export const CONVERSIONS_PATH = "/console/operator/conversions";

export function conversionAddress({ platform, txnid }: ConversionKey): string {
	return `${CONVERSIONS_PATH}/${segmentOf(platform)}/${segmentOf(txnid)}`;
}

/** An amount in a list of conversions: what is cancelled has none, though what it was is kept. */
export function earnedOf(status: string, usd: string | null): string | null {
	return status === "cancelled" ? null : usd;
}
