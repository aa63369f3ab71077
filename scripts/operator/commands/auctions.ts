import { type FeedbackPage, feedbackPageSchema } from "../../../src/auction-feedback/feedback-answer.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { printGroups } from "../table.ts";

const FILTERS = ["group", "from", "to", "publisher", "limit"] as const;
type Options = ServerOptions & Partial<Record<(typeof FILTERS)[number], string>>;

/** `auctions`: how often bids won, and what they had to beat, as publishers tell. */
export const command: OperatorCommand = {
	name: "auctions",
	add(program) {
		withServerOptions(program.command("auctions"))
			.description("show how often bids won, and what they had to beat, as publishers tell")
			.option("--group <names>", "day, publisher, loss, with commas between them", "publisher,loss")
			.option("--from <date>", "first UTC date; without it six days before --to")
			.option("--to <date>", "last UTC date; without it today")
			.option("--publisher <id>", "of this publisher")
			.option("--limit <count>", "rows at most, up to 1000", "1000")
			.action(show);
	},
};

type Sums = Pick<FeedbackPage["total"], "auctions" | "won" | "win_rate" | "price_to_beat">;
const FIGURES: [name: string, of: (row: Sums) => string | number][] = [
	["auctions", ({ auctions }) => auctions],
	["won", ({ won }) => won],
	["win_rate", ({ win_rate: rate }) => (rate === null ? "" : `${(100 * rate).toFixed(2)} %`)],
	["price_to_beat", ({ price_to_beat: price }) => price ?? ""],
];

async function show(options: Options): Promise<void> {
	const page = await readPage(options, "/operator/auction-feedback", FILTERS, feedbackPageSchema);
	if (options.json) console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) await refuseUnknown(options, { publisher: options.publisher });
	if (options.json) return;
	printGroups(page, FIGURES, () => "(unknown)");
	const { won, billed, lost } = page.total.notices;
	console.log(`Notices: ${won} won, ${billed} billed, ${lost} lost.`);
	if (page.next_cursor !== null) console.log("There are more: shorten the period, or group by less.");
}
