/** What both consoles say of clicks. */
import { CLICK_REASONS } from "../lib/traffic-rules.ts";
import type { Filter } from "./ui/filters.tsx";
import { CLICK_REASON_WORDS } from "./words.ts";

/** Whether clicks are paid, or why not. */
export const CLICK_REASON_FILTER: Filter = {
	kind: "choice",
	name: "reason",
	label: "Paid or not",
	any: "All clicks",
	choices: [
		{ value: "paid", label: "Paid" },
		{ value: "unpaid", label: "Unpaid" },
		...CLICK_REASONS.map((value) => ({ value, label: CLICK_REASON_WORDS[value], group: "Unpaid, since" })),
	],
};
