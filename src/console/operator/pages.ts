/** The operators' pages, in the order of the menu. */
import type { Page } from "../page.ts";
import { AUDIT_PAGES } from "./audit.tsx";
import { DEAD_LETTERS_PAGES } from "./dead-letters.tsx";
import { EXPLAIN_PAGES } from "./explain.tsx";
import { FIND_PAGES } from "./find.tsx";
import { OPERATOR_HOME_PAGES } from "./home.tsx";
import { TRAFFIC_PAGES } from "./traffic.tsx";

export const OPERATOR_PAGES: readonly Page[] = [
	...OPERATOR_HOME_PAGES,
	...FIND_PAGES,
	...DEAD_LETTERS_PAGES,
	...TRAFFIC_PAGES,
	...EXPLAIN_PAGES,
	...AUDIT_PAGES,
];
