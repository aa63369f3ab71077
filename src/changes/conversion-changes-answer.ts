/** Answer of GET /api/conversions/changes. */
import * as v from "valibot";
import { CONVERSION_CHANGE_REASONS, CONVERSION_STATUSES, PRICING_MODELS } from "../lib/enums.ts";
import { count, time, usd } from "../lib/shapes.ts";

const text = v.string();
const textOrNull = v.nullable(text);

const state = v.strictObject({
	status: v.picklist(CONVERSION_STATUSES),
	date: v.pipe(text, v.isoDate(), v.description("Its UTC day in your reports, if you are paid by conversions.")),
	at: v.pipe(time, v.description("When it happened.")),
	revenue: v.pipe(usd, v.description("What it earns you.")),
	gross_revenue: v.optional(
		v.pipe(usd, v.description("What its platform pays, if you are paid by conversions; not in changes from before this was kept.")),
	),
	credited_revenue: v.pipe(usd, v.description("What callbacks have credited, less what they took back.")),
	sales_amount: v.optional(v.pipe(usd, v.description("Where enabled for you."))),
});

const WHY = [...CONVERSION_CHANGE_REASONS, "adjusted", "present"] as const;

export const conversionChangeSchema = v.strictObject({
	id: v.pipe(text, v.description("Of the conversion or amount, the same in all its changes: what to keep it by.")),
	changed_at: time,
	why: v.pipe(
		v.picklist(WHY),
		v.description("`adjusted`: an amount of the network's, of no click. `present`: how it stands; its changes are no longer kept."),
	),
	rev_type: v.pipe(v.picklist([...PRICING_MODELS, "ADJUSTMENT"]), v.description("As in the revenue share report.")),
	transaction_id: text,
	click_id: v.pipe(textOrNull, v.description("Your click id, where the link had one.")),
	click: v.pipe(textOrNull, v.description("The click's own id: two clicks may have the same click_id.")),
	clicked_at: v.nullable(time),
	brand: v.pipe(textOrNull, v.description("Domain.")),
	campaign_id: v.optional(v.pipe(text, v.description("Where enabled for you."))),
	source_id: text,
	user_id: v.optional(v.pipe(textOrNull, v.description("Of bids by OpenRTB, where the request had one."))),
	offer_id: v.pipe(text, v.description("Of the brand, as in the brand list.")),
	atag: v.optional(v.pipe(text, v.description("Of a marketplace's link."))),
	subid1: v.pipe(text, v.description("Passed through the link, as subid2 to subid5; empty where it had none, or is not stored any more.")),
	subid2: text,
	subid3: text,
	subid4: text,
	subid5: text,
	old: v.pipe(v.nullable(state), v.description("As it stood in reports before; null where it was in none.")),
	new: v.pipe(v.nullable(state), v.description("As it stands since; null where it is in no report.")),
});

/** What every page of a feed has beside its `data`. */
export const feedPage = {
	limit: count,
	next_cursor: v.pipe(text, v.description("Go on with it as `after`, now or later.")),
	more: v.pipe(v.boolean(), v.description("False where this page was the last, until something changes.")),
};

export const conversionChangesSchema = v.strictObject({ data: v.array(conversionChangeSchema), ...feedPage });

export const goneSchema = v.strictObject({
	error: v.literal("Gone"),
	message: text,
	oldest: v.pipe(textOrNull, v.description("The oldest cursor from which every change is kept; null where there is none.")),
});

export type ConversionChange = v.InferOutput<typeof conversionChangeSchema>;
export type ConversionChanges = v.InferOutput<typeof conversionChangesSchema>;
