/** The operators' pages, in the order of the menu. */
import type { Page } from "../page.ts";
import { ADJUSTMENTS_PAGES } from "./adjustments.tsx";
import { AUDIT_PAGES } from "./audit.tsx";
import { BLOCK_PAGES } from "./blocks.tsx";
import { OPERATOR_CALLBACKS_PAGES } from "./callbacks.tsx";
import { CAMPAIGN_PRICES_PAGES } from "./campaign-prices.tsx";
import { CHANGE_ENTRY_PAGES } from "./change-entry-pages.tsx";
import { OPERATOR_CLAIMS_PAGES } from "./claims.tsx";
import { OPERATOR_CLICKS_PAGES } from "./clicks.tsx";
import { OPERATOR_CONVERSION_PAGES } from "./conversion.tsx";
import { OPERATOR_CONVERSIONS_PAGES } from "./conversions.tsx";
import { DEAD_LETTERS_PAGES } from "./dead-letters.tsx";
import { ENTRY_PAGES } from "./entry-pages.tsx";
import { EXPLAIN_PAGES } from "./explain.tsx";
import { FIND_PAGES } from "./find.tsx";
import { OPERATOR_HOME_PAGES } from "./home.tsx";
import { IMPORTS_PAGES } from "./imports.tsx";
import { KEYS_PAGES } from "./keys.tsx";
import { LEARNING_PAGES } from "./learning.tsx";
import { NETWORK_LIST_PAGES } from "./network-lists.tsx";
import { PEOPLE_PAGES } from "./people.tsx";
import { PERSON_PAGES } from "./person.tsx";
import { POSTBACK_PROBLEMS_PAGES } from "./postback-problems.tsx";
import { POSTBACK_SECRET_PAGES } from "./postback-secret.tsx";
import { TRAFFIC_PAGES } from "./traffic.tsx";

export const OPERATOR_PAGES: readonly Page[] = [
	...OPERATOR_HOME_PAGES,
	...FIND_PAGES,
	...POSTBACK_PROBLEMS_PAGES,
	...OPERATOR_CONVERSIONS_PAGES,
	...OPERATOR_CONVERSION_PAGES,
	...ADJUSTMENTS_PAGES,
	...OPERATOR_CLAIMS_PAGES,
	...OPERATOR_CALLBACKS_PAGES,
	...DEAD_LETTERS_PAGES,
	...TRAFFIC_PAGES,
	...OPERATOR_CLICKS_PAGES,
	...EXPLAIN_PAGES,
	...LEARNING_PAGES,
	...CAMPAIGN_PRICES_PAGES,
	...NETWORK_LIST_PAGES,
	...ENTRY_PAGES,
	...BLOCK_PAGES,
	...POSTBACK_SECRET_PAGES,
	...CHANGE_ENTRY_PAGES,
	...IMPORTS_PAGES,
	...KEYS_PAGES,
	...PEOPLE_PAGES,
	...PERSON_PAGES,
	...AUDIT_PAGES,
];
