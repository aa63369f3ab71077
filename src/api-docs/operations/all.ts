/** Every endpoint, in the order in which the reference shows them, and the calls that go out. */
import type { Described } from "../write-openapi.ts";
import { BID_OPERATIONS } from "./bids.ts";
import { BRAND_LIST_OPERATIONS } from "./brand-lists.ts";
import { CALLBACK_WEBHOOKS } from "./callback.ts";
import { CLICK_OPERATIONS } from "./click.ts";
import { OPERATOR_CALLBACK_OPERATIONS } from "./operator-callbacks.ts";
import { OPERATOR_FEED_OPERATIONS } from "./operator-feeds.ts";
import { OPERATOR_KEY_OPERATIONS } from "./operator-keys.ts";
import { OPERATOR_NETWORK_OPERATIONS } from "./operator-network.ts";
import { OPERATOR_TRACE_OPERATIONS } from "./operator-trace.ts";
import { POSTBACK_OPERATIONS } from "./postback.ts";
import { PRODUCT_OPERATIONS } from "./products.ts";
import { REPORT_OPERATIONS } from "./reports.ts";
import { SERVICE_OPERATIONS } from "./service.ts";

const TAGS = [
	{ name: "Catalogue", description: "Brands and their tracking links." },
	{ name: "Bids", description: "Real-time bids, at the edge." },
	{ name: "Clicks", description: "Where users are sent." },
	{ name: "Reports", description: "What clicks and conversions have earned." },
	{ name: "Products", description: "Product search with monetised links." },
	{ name: "Postbacks", description: "Conversions, as affiliate platforms report them." },
	{ name: "Callbacks", description: "Credits and cancellations, as publishers are told of them." },
	{ name: "Operator", description: "For those who run the network." },
	{ name: "Service", description: "Liveness and readiness." },
];

const OPERATIONS = [
	...BRAND_LIST_OPERATIONS,
	...BID_OPERATIONS,
	...CLICK_OPERATIONS,
	...REPORT_OPERATIONS,
	...PRODUCT_OPERATIONS,
	...POSTBACK_OPERATIONS,
	...OPERATOR_NETWORK_OPERATIONS,
	...OPERATOR_KEY_OPERATIONS,
	...OPERATOR_FEED_OPERATIONS,
	...OPERATOR_TRACE_OPERATIONS,
	...OPERATOR_CALLBACK_OPERATIONS,
	...SERVICE_OPERATIONS,
];

export const DESCRIBED: Described = { operations: OPERATIONS, webhooks: CALLBACK_WEBHOOKS, tags: TAGS };
