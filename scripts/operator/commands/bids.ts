import { type BidsPage, bidsPageSchema } from "../../../src/bid-counts/bids-answer.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { printGroups } from "../table.ts";

const FILTERS = ["group", "from", "to", "publisher", "limit"] as const;
type Options = ServerOptions & Partial<Record<(typeof FILTERS)[number], string>>;

/** `bids`: how often publishers were bid for, and why not. */
export const command: OperatorCommand = {
	name: "bids",
	add(program) {
		withServerOptions(program.command("bids"))
			.description("show how often publishers were bid for, and why not")
			.option("--group <names>", "hour, day, publisher, endpoint, reason, with commas between them", "publisher,reason")
			.option("--from <time>", "at or after this time or UTC date; without it the last 24 hours")
			.option("--to <time>", "before this time; a date is included")
			.option("--publisher <id>", "of this publisher")
			.option("--limit <count>", "rows at most, up to 1000", "1000")
			.action(show);
	},
};

const COUNTS: [name: string, of: (row: BidsPage["total"]) => number][] = [
	["requests", ({ requests }) => requests],
	["bids", ({ bids }) => bids],
	["no_bids", ({ no_bids }) => no_bids],
];

async function show(options: Options): Promise<void> {
	const page = await readPage(options, "/operator/bids", FILTERS, bidsPageSchema);
	if (options.json) console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) await refuseUnknown(options, { publisher: options.publisher });
	if (options.json) return;
	printGroups(page, COUNTS, (name) => (name === "reason" ? "(bid)" : "(nobody)"));
	if (page.next_cursor !== null) console.log("There are more: shorten the period, or group by less.");
}
