/** Answer of GET /api/conversions. */
import * as v from "valibot";
import { CONVERSION_STATUSES } from "../lib/enums.ts";
import { count, time } from "../lib/shapes.ts";

const text = v.string();
const textOrNull = v.nullable(text);
/** Amounts before the share may be finer than what is credited. */
const usd = v.pipe(text, v.regex(/^-?\d+\.\d{4,6}$/));

/** Why a conversion that is approved or pending does not count, as a publisher is told. */
const HOLDS = ["review", "no_exchange_rate", "account_suspended", "test"] as const;
export type Hold = (typeof HOLDS)[number];

/** What histories call events. */
const HISTORY_CAUSES = ["reported", "matched", "held", "released", "reviewed", "revalued"] as const;
export type HistoryCause = (typeof HISTORY_CAUSES)[number];

/** How a conversion stands, or stood. */
const state = {
	status: v.picklist(CONVERSION_STATUSES),
	held: v.pipe(
		v.nullable(v.picklist(HOLDS)),
		v.description("Why it does not count yet, though it is not cancelled; null where nothing holds it."),
	),
	revenue: v.pipe(usd, v.description("What it adds to your reports, USD.")),
	gross_revenue: v.optional(v.pipe(usd, v.description("Before your share; not where you are paid by clicks."))),
	sales_amount: v.optional(v.pipe(usd, v.description("Where enabled for you."))),
};

const historySchema = v.strictObject({ at: time, cause: v.picklist(HISTORY_CAUSES), ...state });

export const publisherConversionSchema = v.strictObject({
	transaction_id: v.pipe(text, v.description("As in reports and callbacks.")),
	click_id: v.pipe(textOrNull, v.description("Your click id, where the link had one.")),
	click: v.pipe(textOrNull, v.description("`id` of its click in `GET /api/clicks`; null where that is not stored any more.")),
	clicked_at: v.nullable(time),
	at: v.pipe(time, v.description("When it happened; its day in your reports, if you are paid by conversions.")),
	brand: v.pipe(textOrNull, v.description("Domain.")),
	campaign_id: v.optional(v.pipe(text, v.description("Where enabled for you."))),
	source_id: text,
	...state,
	reported_at: v.pipe(time, v.description("When it was first reported.")),
	updated_at: time,
	history: v.pipe(v.array(historySchema), v.description("Each time that status, hold or an amount changed, the first first.")),
	history_truncated: v.pipe(
		v.boolean(),
		v.description("True where more has happened than `history` tells: ask for the conversion by its `id`, which tells far more."),
	),
});

export const publisherConversionsSchema = v.strictObject({
	data: v.array(publisherConversionSchema),
	limit: count,
	next_cursor: v.pipe(textOrNull, v.description("Ask again with it; null where there are no more.")),
});

export type PublisherConversion = v.InferOutput<typeof publisherConversionSchema>;
export type PublisherConversions = v.InferOutput<typeof publisherConversionsSchema>;
export type ConversionHistory = PublisherConversion["history"];
