/** In which order a publisher's lists are shown: people look for what was last, programs go on where they ended. */
import type { Query } from "../ui/address.ts";
import type { Filter } from "../ui/filters.tsx";

export const ORDER_FILTER: Filter = {
	kind: "choice",
	name: "order",
	label: "Order",
	any: "newest first",
	choices: [{ value: "oldest", label: "oldest first" }],
};

/** What a list is asked for, the newest first where the address does not say. */
export function newestFirst(query: Query): Query & { order: string } {
	return { ...query, order: query.order || "newest" };
}
