import type { OperatorCommand } from "../command.ts";
import { type ChangeOptions, sendChange, withChangeOptions } from "../send-change.ts";

/** `undo ID`: what an import changed is as it was before. */
export const command: OperatorCommand = {
	name: "undo",
	add(program) {
		withChangeOptions(program.command("undo"))
			.description(
				"undo an import or a change of the last 30 days: campaigns added to a brand are removed, brands and publishers stopped; keys stay",
			)
			.argument("<id>", "as the import named it, and `audit` does")
			.action((id: string, options: ChangeOptions) => sendChange("/operator/network/undo", { import: id }, options));
	},
};
