import type { OperatorCommand } from "../command.ts";
import { addFeedCommand } from "../send-feed.ts";

/** `products FILE`: takes over a feed of affiliate brands' products. */
export const command: OperatorCommand = {
	name: "products",
	add: (program) => addFeedCommand(program, "products", "take over a product feed of affiliate brands (CSV or JSON lines)"),
};
