/** Filters that lists of clicks and conversions share. */
import * as v from "valibot";
import { isClickIdLength, MAX_CLICK_ID_BYTES, MAX_CLICK_ID_LENGTH } from "../lib/click-id.ts";
import { canonicalCountry } from "../lib/country.ts";
import { canonicalHost } from "../lib/host.ts";
import { CLICK_REASONS } from "../lib/traffic-rules.ts";

export const anyId = v.pipe(
	v.string(),
	v.maxLength(MAX_CLICK_ID_LENGTH, `must have at most ${MAX_CLICK_ID_LENGTH} characters`),
	v.check((text) => text.length > MAX_CLICK_ID_LENGTH || isClickIdLength(text), `must have at most ${MAX_CLICK_ID_BYTES} bytes as UTF-8`),
);
/** Of whatever a network file names, and of sources. */
export const name = v.pipe(v.string(), v.maxLength(255, "must have at most 255 characters"));
/** A brand's domain, or an address on it. */
export const brandDomain = v.pipe(
	v.string(),
	v.check((text) => canonicalHost(text) !== null, "must be a domain such as shoes.example"),
);

/** An ISO country code, in whatever case. Looked at before it is put in capitals: those of other letters, such as ß, may be two of ours. */
export function countryCode(fault: string) {
	return v.pipe(v.string(), v.trim(), v.regex(/^[A-Za-z]{2}$/, fault), v.toUpperCase(), v.transform(canonicalCountry));
}

const ORDERS = ["oldest", "newest"] as const;
/** Which of a list's rows comes first, by their time. */
export const listOrder = v.optional(v.picklist(ORDERS, `must be one of ${ORDERS.join(", ")}`), "oldest");
export type ListOrder = v.InferOutput<typeof listOrder>;

const REASONS = ["paid", "unpaid", ...CLICK_REASONS] as const;
/** Whether clicks are paid, or why not. */
export const clickReason = v.picklist(REASONS, `must be one of ${REASONS.join(", ")}`);
export type ClickReasonFilter = v.InferOutput<typeof clickReason>;
