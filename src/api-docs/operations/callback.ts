/** The one call that goes out: to a publisher's own address. */
import * as v from "valibot";
import type { CALLBACK_PARAMETERS } from "../../lib/callback-url.ts";
import { CALLBACK_STATUSES } from "../../lib/enums.ts";
import type { Parameter, Webhook } from "../operation.ts";
import { time, usd } from "./shapes.ts";

const text = v.string();

const PARAMETERS: Record<(typeof CALLBACK_PARAMETERS)[number], Omit<Parameter, "in" | "name" | "required">> = {
	txnid: { description: "The transaction, as the affiliate platform names it.", schema: text, example: "T-1001" },
	cid: { description: "Your own click id; empty where the click had none.", schema: text, example: "click-77" },
	payout: {
		description: "What you earn by it, USD; of a cancellation, the amount of the credit that it takes back.",
		schema: usd,
		example: "8.4000",
	},
	status: { description: "A credit, or that it is taken back.", schema: v.picklist(CALLBACK_STATUSES), example: "approved" },
	edate: { description: "When the conversion happened, UTC.", schema: time, example: "2026-10-01T10:20:30.000Z" },
};

/** Where the publisher has a secret. */
const SIGNATURE: Record<string, Omit<Parameter, "in" | "name">> = {
	"webhook-id": { description: "Signed callbacks only: the Idempotency-Key.", schema: text },
	"webhook-timestamp": { description: "Signed callbacks only: when it was sent, Unix seconds.", schema: v.pipe(text, v.regex(/^\d+$/)) },
	"webhook-signature": {
		description:
			"Signed callbacks only, as Standard Webhooks has it: a signature a secret, separated by blanks, of `{webhook-id}.{webhook-timestamp}.{path and query}`, HMAC-SHA-256 with the decoded secret.",
		schema: v.pipe(text, v.regex(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$/)),
	},
};

const AGAIN = { description: "It is sent again, for about two days. `Retry-After` is honoured." };

export const CALLBACK_WEBHOOKS: readonly Webhook[] = [
	{
		name: "conversion",
		method: "get",
		id: "conversionCallback",
		tag: "Callbacks",
		summary: "A conversion was credited, or cancelled",
		description:
			"Sent to the address that you share, behind the parameters it already has; macros such as `{txnid}` in its path and query are filled in, and one of the five parameters is left out where the address has its macro. No key is sent. At least once: deduplicate by Idempotency-Key. Of one transaction in order, each once the one before was confirmed.",
		parameters: [
			...Object.entries(PARAMETERS).map(([name, parameter]): Parameter => ({ in: "query", name, required: true, ...parameter })),
			{
				in: "header",
				name: "Idempotency-Key",
				required: true,
				description: "The same each time the same callback is sent, and never the same for two.",
				schema: v.pipe(text, v.nonEmpty()),
			},
			...Object.entries(SIGNATURE).map(([name, parameter]): Parameter => ({ in: "header", name, ...parameter })),
			{
				in: "header",
				name: "User-Agent",
				required: true,
				description: "A test, which is not to be booked, says so.",
				schema: v.picklist(["Clickbourse-Callback/1", "Clickbourse-Callback/1 (test)"]),
			},
		],
		answers: {
			"2XX": { description: "You have stored it. Within 10 seconds; the body does not matter." },
			"3XX": { description: "Redirects are not followed: it is sent again." },
			"4XX": AGAIN,
			"5XX": AGAIN,
		},
	},
];
