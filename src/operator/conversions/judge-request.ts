/** What POST /operator/conversions/{platform}/{txnid}/attach, release, void and restore take, and GET …/clicks. */
import * as v from "valibot";
import { shared, upTo } from "../../adjustments/adjustment-request.ts";
import { datetime, endOf, startOf } from "../../http/datetime.ts";
import { nameOfAtMost } from "../../http/texts.ts";
import { MAX_CLICK_ID_LENGTH } from "../../lib/click-id.ts";
import { HOUR_MS } from "../../lib/time.ts";

/** The longest time in which clicks of a brand are looked for. */
const MAX_HOURS = 72;

export const judgeSchema = v.strictObject(shared);
export const releaseSchema = v.strictObject({ up_to: upTo, ...shared });

const click = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.nonEmpty("must not be blank"),
	v.maxLength(MAX_CLICK_ID_LENGTH, "is too long"),
);

const wanted = {
	/** A click's id, its hash, or the publisher's click id. */
	click: v.optional(click),
	/** Else a brand's domain, and when the click was made: from, and before. */
	brand: v.optional(nameOfAtMost(255)),
	from: v.optional(datetime),
	to: v.optional(datetime),
};

type Wanted = { click?: string | undefined; brand?: string | undefined; from?: string | undefined; to?: string | undefined };

/** By what a click is looked for. */
export type ClickWanted = { click: string } | { brand: string; fromAt: number; toAt: number };

const ASKED = "must name the click by click, or by brand, from and to";
const LASTING = `must be after from, by ${MAX_HOURS} hours at most`;

function isNamed({ click, brand, from, to }: Wanted): boolean {
	const byBrand = brand !== undefined && from !== undefined && to !== undefined;
	return click === undefined ? byBrand : brand === undefined && from === undefined && to === undefined;
}

function isSoon({ from, to }: Wanted): boolean {
	if (from === undefined || to === undefined) return true;
	const length = endOf(to) - startOf(from);
	return length > 0 && length <= MAX_HOURS * HOUR_MS;
}

export const attachSchema = v.pipe(
	v.strictObject({ ...wanted, ...shared }),
	v.check((request) => isNamed(request), ASKED),
	v.forward(
		v.check((request) => isSoon(request), LASTING),
		["to"],
	),
);
export const clicksSchema = v.pipe(
	v.strictObject(wanted),
	v.check((request) => isNamed(request), ASKED),
	v.forward(
		v.check((request) => isSoon(request), LASTING),
		["to"],
	),
);

/** @param wanted that was read */
export function clickWanted({ click, brand, from, to }: Wanted): ClickWanted {
	if (click !== undefined) return { click };
	return { brand: brand ?? "", fromAt: startOf(from ?? ""), toAt: endOf(to ?? "") };
}
