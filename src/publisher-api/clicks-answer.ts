/** Answer of GET /api/clicks. */
import * as v from "valibot";
import { TOKEN_KINDS } from "../lib/enums.ts";
import { count, time } from "../lib/shapes.ts";
import { CLICK_REASONS, TRAFFIC_RULES } from "../lib/traffic-rules.ts";

const text = v.string();
const textOrNull = v.nullable(text);
const usd = v.pipe(text, v.regex(/^\d+\.\d{4,6}$/));

export const publisherClickSchema = v.strictObject({
	id: v.pipe(text, v.description("Of this click alone.")),
	transaction_id: v.pipe(
		text,
		v.description(
			"As `clickid_level` has it where you are paid for it. Clicks of one bid share it, and one of them is paid; each click on a brand's link has its own.",
		),
	),
	click_id: v.pipe(textOrNull, v.description("Your click id, where the link had one.")),
	at: time,
	kind: v.pipe(v.picklist(TOKEN_KINDS), v.description("Where its link came from.")),
	brand: v.pipe(textOrNull, v.description("Domain.")),
	campaign_id: v.optional(v.pipe(text, v.description("Where enabled for you."))),
	source_id: v.pipe(text, v.description("`subi`, else `psorc`; empty without one.")),
	subid1: v.optional(text),
	subid2: v.optional(text),
	subid3: v.optional(text),
	subid4: v.optional(text),
	subid5: v.optional(text),
	country: v.pipe(textOrNull, v.description("Of the link.")),
	keyword: v.pipe(textOrNull, v.description("The keyword that priced the bid.")),
	price: v.pipe(usd, v.description("What the bid or link promised, USD.")),
	revenue: v.pipe(usd, v.description("What the click itself earns, USD; conversions of it are in the reports.")),
	reason: v.pipe(v.nullable(v.picklist(CLICK_REASONS)), v.description("Why it is not paid; null where it is.")),
	flags: v.pipe(v.array(v.picklist(TRAFFIC_RULES)), v.description("Rules that hold for it and do not decide.")),
});

export const publisherClicksSchema = v.strictObject({
	data: v.array(publisherClickSchema),
	limit: count,
	next_cursor: v.pipe(textOrNull, v.description("Ask again with it; null where there are no more.")),
});

export type PublisherClick = v.InferOutput<typeof publisherClickSchema>;
export type PublisherClicks = v.InferOutput<typeof publisherClicksSchema>;
