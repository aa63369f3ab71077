/**
 * Every endpoint, in the order in which the reference shows them, and the calls that go out: one description for those who use the
 * network, one for those who run it.
 */
import operatorAnswers from "../examples/operator.json";
import publicAnswers from "../examples/public.json";
import type { Described } from "../operation.ts";
import { OPERATOR_FEEDBACK_OPERATIONS, PUBLISHER_FEEDBACK_OPERATIONS } from "./auction-feedback.ts";
import { OPERATOR_BIDS_OPERATIONS, PUBLISHER_NO_BIDS_OPERATIONS } from "./bid-counts.ts";
import { BID_OPERATIONS } from "./bids.ts";
import { BRAND_LIST_OPERATIONS } from "./brand-lists.ts";
import { CALLBACK_WEBHOOKS } from "./callback.ts";
import { CLAIM_OPERATIONS, OPERATOR_CLAIM_OPERATIONS } from "./claims.ts";
import { CLICK_OPERATIONS } from "./click.ts";
import { NOTICE_OPERATIONS } from "./notice.ts";
import { OPERATOR_ADJUSTMENT_OPERATIONS } from "./operator-adjustments.ts";
import { OPERATOR_AUDIT_OPERATIONS } from "./operator-audit.ts";
import { OPERATOR_CALLBACK_OPERATIONS } from "./operator-callbacks.ts";
import { OPERATOR_CLICK_OPERATIONS } from "./operator-clicks.ts";
import { OPERATOR_CONSOLE_OPERATIONS } from "./operator-console.ts";
import { OPERATOR_CONVERSION_OPERATIONS } from "./operator-conversions.ts";
import { OPERATOR_DATABASE_OPERATIONS } from "./operator-database.ts";
import { OPERATOR_ENTRY_OPERATIONS } from "./operator-entries.ts";
import { OPERATOR_ERASE_OPERATIONS } from "./operator-erase.ts";
import { OPERATOR_FEED_OPERATIONS } from "./operator-feeds.ts";
import { OPERATOR_KEY_OPERATIONS } from "./operator-keys.ts";
import { OPERATOR_LEARNING_OPERATIONS } from "./operator-learning.ts";
import { OPERATOR_NETWORK_OPERATIONS } from "./operator-network.ts";
import { OPERATOR_PEOPLE_OPERATIONS } from "./operator-people.ts";
import { OPERATOR_PROBLEM_OPERATIONS } from "./operator-problems.ts";
import { OPERATOR_RECONCILE_OPERATIONS } from "./operator-reconcile.ts";
import { OPERATOR_REPORT_OPERATIONS } from "./operator-reports.ts";
import { OPERATOR_STATEMENT_OPERATIONS } from "./operator-statements.ts";
import { OPERATOR_STATUS_OPERATIONS } from "./operator-status.ts";
import { OPERATOR_TRACE_OPERATIONS } from "./operator-trace.ts";
import { POSTBACK_OPERATIONS } from "./postback.ts";
import { PRODUCT_OPERATIONS } from "./products.ts";
import { PUBLISHER_ACCOUNT_OPERATIONS } from "./publisher-account.ts";
import { PUBLISHER_BRAND_OPERATIONS } from "./publisher-brands.ts";
import { PUBLISHER_CALLBACK_OPERATIONS } from "./publisher-callbacks.ts";
import { PUBLISHER_CHANGE_OPERATIONS } from "./publisher-changes.ts";
import { PUBLISHER_CLICK_OPERATIONS } from "./publisher-clicks.ts";
import { PUBLISHER_DAY_OPERATIONS } from "./publisher-days.ts";
import { PUBLISHER_EARNINGS_OPERATIONS } from "./publisher-earnings.ts";
import { REPORT_OPERATIONS } from "./reports.ts";
import { SERVICE_OPERATIONS } from "./service.ts";

const ABOUT = "Publisher affiliate network with real-time ad serving. Money is USD; dates and times are UTC.";

/** For publishers, SSPs and affiliate platforms. */
export const PUBLIC_API: Described = {
	title: "Clickbourse",
	description: ABOUT,
	tags: [
		{ name: "Account", description: "How you are set up." },
		{ name: "Catalogue", description: "Brands and their tracking links." },
		{ name: "Bids", description: "Real-time bids, at the edge." },
		{ name: "Clicks", description: "Where users are sent." },
		{ name: "Reports", description: "What clicks and conversions have earned." },
		{ name: "Products", description: "Product search with monetised links." },
		{ name: "Postbacks", description: "Conversions, as affiliate platforms report them." },
		{ name: "Callbacks", description: "Credits and cancellations, as publishers are told of them." },
		{ name: "Claims", description: "Sales that are missing or wrong." },
	],
	operations: [
		...PUBLISHER_ACCOUNT_OPERATIONS,
		...BRAND_LIST_OPERATIONS,
		...PUBLISHER_BRAND_OPERATIONS,
		...BID_OPERATIONS,
		...CLICK_OPERATIONS,
		...NOTICE_OPERATIONS,
		...REPORT_OPERATIONS,
		...PUBLISHER_CLICK_OPERATIONS,
		...PUBLISHER_EARNINGS_OPERATIONS,
		...PUBLISHER_CHANGE_OPERATIONS,
		...PUBLISHER_DAY_OPERATIONS,
		...PUBLISHER_NO_BIDS_OPERATIONS,
		...PUBLISHER_FEEDBACK_OPERATIONS,
		...PRODUCT_OPERATIONS,
		...POSTBACK_OPERATIONS,
		...PUBLISHER_CALLBACK_OPERATIONS,
		...CLAIM_OPERATIONS,
	],
	webhooks: CALLBACK_WEBHOOKS,
	examples: publicAnswers,
};

/** For those who run the network. */
export const OPERATOR_API: Described = {
	title: "Clickbourse, for its operator",
	description: ABOUT,
	tags: [
		{ name: "Operator", description: "For those who run the network." },
		{ name: "Service", description: "Liveness and readiness." },
	],
	operations: [
		...OPERATOR_NETWORK_OPERATIONS,
		...OPERATOR_ENTRY_OPERATIONS,
		...OPERATOR_LEARNING_OPERATIONS,
		...OPERATOR_KEY_OPERATIONS,
		...OPERATOR_CONSOLE_OPERATIONS,
		...OPERATOR_PEOPLE_OPERATIONS,
		...OPERATOR_AUDIT_OPERATIONS,
		...OPERATOR_FEED_OPERATIONS,
		...OPERATOR_TRACE_OPERATIONS,
		...OPERATOR_ERASE_OPERATIONS,
		...OPERATOR_CLICK_OPERATIONS,
		...OPERATOR_CONVERSION_OPERATIONS,
		...OPERATOR_PROBLEM_OPERATIONS,
		...OPERATOR_STATEMENT_OPERATIONS,
		...OPERATOR_STATUS_OPERATIONS,
		...OPERATOR_REPORT_OPERATIONS,
		...OPERATOR_BIDS_OPERATIONS,
		...OPERATOR_FEEDBACK_OPERATIONS,
		...OPERATOR_RECONCILE_OPERATIONS,
		...OPERATOR_CALLBACK_OPERATIONS,
		...OPERATOR_ADJUSTMENT_OPERATIONS,
		...OPERATOR_CLAIM_OPERATIONS,
		...OPERATOR_DATABASE_OPERATIONS,
		...SERVICE_OPERATIONS,
	],
	webhooks: [],
	examples: operatorAnswers,
};
