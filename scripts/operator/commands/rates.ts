import type { OperatorCommand } from "../command.ts";
import { type AdjustOptions, sendAdjustment, withAdjustOptions } from "../send-adjustment.ts";

/** `rates …`: what follows of exchange rates that were corrected. */
export const command: OperatorCommand = {
	name: "rates",
	add(program) {
		const rates = program.command("rates").description("value conversions by exchange rates that were corrected");
		withAdjustOptions(rates.command("revalue"))
			.description("value settled conversions of a currency again, by the rates that are stored now")
			.requiredOption("--currency <code>", "such as EUR")
			.requiredOption("--from <day>", "first day of the events, YYYY-MM-DD in UTC")
			.requiredOption("--to <day>", "last day, included")
			.action(({ currency, from, to, ...options }: AdjustOptions & { currency: string; from: string; to: string }) =>
				sendAdjustment(options, { currency, from, to }, ["currency", "from", "to"], "/operator/rates/revalue"),
			);
	},
};
