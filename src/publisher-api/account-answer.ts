/** Answer of GET /api/account: what a publisher may know of how it is set up. */
import * as v from "valibot";
import { NAME_KINDS } from "../lib/access-enums.ts";
import { AMENDMENTS, PRICING_MODELS, PUBLISHER_STATUSES } from "../lib/enums.ts";
import { count, time } from "../lib/shapes.ts";

const text = v.string();
const flag = v.boolean();

export const accountSchema = v.strictObject({
	id: text,
	name: text,
	status: v.pipe(
		v.picklist(PUBLISHER_STATUSES),
		v.description("Suspended: no bids, lists, links or searches, and nothing is paid; reports stay readable."),
	),
	pricing_model: v.pipe(v.picklist(PRICING_MODELS), v.description("What you are paid for: conversions (CPA) or clicks (CPC).")),
	revenue_share: v.optional(
		v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description("Your part of what conversions pay; not where you are paid by clicks.")),
	),
	bid_pay_minutes: v.pipe(count, v.description("How long a click on a bid is paid.")),
	names: v.pipe(
		v.array(
			v.strictObject({
				kind: v.picklist(NAME_KINDS),
				value: text,
				expires_at: v.pipe(v.nullable(time), v.description("When requests may no longer use it; null for the present one.")),
			}),
		),
		v.description("Your Publisher Id and Publisher Identity, and earlier ones that are still accepted."),
	),
	keys: v.pipe(
		v.array(
			v.strictObject({
				kind: v.picklist(["access_key", "publisher_key"]),
				created_at: time,
				expires_at: v.nullable(time),
				last_used_on: v.pipe(v.nullable(v.pipe(text, v.isoDate())), v.description("UTC day.")),
			}),
		),
		v.description("Those that are valid, without the keys themselves, of which only hashes are stored."),
	),
	endpoints: v.strictObject({ openrtb: flag, serving_engine: flag }),
	seat: v.nullable(text),
	marketplace_tag: v.nullable(text),
	permissions: v.strictObject({
		flat_fees: v.pipe(flag, v.description("Cashback and flat-fee offers in brand lists.")),
		sales_amounts: v.pipe(flag, v.description("`sales_amount` in reports.")),
		campaign_ids: v.pipe(flag, v.description("`campaign_id` in reports.")),
	}),
	callback: v.pipe(
		v.nullable(
			v.strictObject({
				url: v.pipe(text, v.description("What may be a secret in it is `***`.")),
				amendments: v.pipe(
					v.picklist(AMENDMENTS),
					v.description("Whether you are told of another amount: `pair` sends a cancellation and a new credit."),
				),
				failures_in_a_row: count,
				paused_since: v.pipe(v.nullable(time), v.description("Since when the address is only probed, after failing too often.")),
			}),
		),
		v.description("Null without an address."),
	),
});

export type Account = v.InferOutput<typeof accountSchema>;
