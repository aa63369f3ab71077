/** What POST /operator/rates/revalue takes. */
import * as v from "valibot";
import { day } from "../http/datetime.ts";
import { DAY_MS } from "../lib/time.ts";
import { type AdjustmentRequest, type AttachRequest, shared } from "./adjustment-request.ts";

/** Days of one request. */
export const MAX_REVALUED_DAYS = 366;

export const revalueSchema = v.pipe(
	v.strictObject({
		currency: v.pipe(
			v.string("must be a text"),
			v.regex(/^[A-Z]{3}$/, "must be a currency's code such as EUR"),
			v.check((code) => code !== "USD", "must not be USD, which is worth itself"),
		),
		/** UTC days of the event, both included. */
		from: day,
		to: day,
		...shared,
	}),
	v.forward(
		v.check(({ from, to }) => from <= to, "must not be before from"),
		["to"],
	),
	v.forward(
		v.check(
			({ from, to }) => Date.parse(to) - Date.parse(from) < MAX_REVALUED_DAYS * DAY_MS,
			`must leave at most ${MAX_REVALUED_DAYS} days, both included`,
		),
		["to"],
	),
	v.transform((request) => ({ kind: "revalue" as const, ...request })),
);

export type RevalueRequest = v.InferOutput<typeof revalueSchema>;

/** Whatever makes an adjustment. */
export type AnyRequest = AdjustmentRequest | AttachRequest | RevalueRequest;
