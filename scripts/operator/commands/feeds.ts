import type { OperatorCommand } from "../command.ts";
import { addFeedCommand } from "../send-feed.ts";

/**
 * `products FILE` and `seller-products FILE`: take over feeds of affiliate brands' products, and of those that sellers offer on a
 * marketplace.
 */
export const command: OperatorCommand = {
	name: "feeds",
	add(program) {
		addFeedCommand(program, "products", "take over a product feed of affiliate brands (CSV or JSON lines)");
		addFeedCommand(program, "seller-products", "take over a feed of marketplace sellers' products (CSV or JSON lines)");
	},
};
