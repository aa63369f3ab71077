import type { OperatorCommand } from "../command.ts";
import { addFeedCommand } from "../send-feed.ts";

/** `seller-products FILE`: takes over a feed of products that sellers offer on a marketplace. */
export const command: OperatorCommand = {
	name: "seller-products",
	add: (program) => addFeedCommand(program, "seller-products", "take over a feed of marketplace sellers' products (CSV or JSON lines)"),
};
