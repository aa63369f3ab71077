import { adjustmentPageSchema, type ListedAdjustment } from "../../../src/adjustments/adjustment-answer.ts";
import { counted } from "../../../src/lib/counted.ts";
import { ADJUSTMENT_KINDS } from "../../../src/lib/enums.ts";
import { Failure } from "../../local/failure.ts";
import { type OperatorCommand, oneOf, type ServerOptions, withServerOptions } from "../command.ts";
import { flagOf, parametersOf } from "../option-names.ts";
import { readPage } from "../read-page.ts";
import { sayNone } from "../say-none.ts";
import { type AdjustOptions, sendAdjustment, withAdjustOptions } from "../send-adjustment.ts";

/** Options of `void-clicks`: which clicks. */
const SELECTION = {
	publisher: ["id", "of this publisher (its id in the network file)"],
	source: ["id", "of this source of traffic"],
	addressPrefix: ["network", "from this network, such as 203.0.113.0/24"],
	brand: ["domain", "of this brand"],
	campaign: ["id", "of this campaign"],
	from: ["time", "made at or after this time (ISO 8601, UTC)"],
	to: ["time", "made before this time; a date is included"],
	reason: ["rule", "flagged by this rule"],
} as const;
const SELECTED = Object.keys(SELECTION) as (keyof typeof SELECTION)[];
const LISTED = ["kind", "from", "to", "limit", "cursor"] as const;

type VoidOptions = AdjustOptions & Partial<Record<keyof typeof SELECTION, string>>;
type ListOptions = ServerOptions & Partial<Record<(typeof LISTED)[number], string>>;

const CONVERSION_VERBS = {
	"void-conversion": ["void_conversion", "take a conversion back: it counts as cancelled, whatever its platform says"],
	"restore-conversion": ["restore_conversion", "let a conversion that was voided or released be what its platform says"],
	"release-conversion": ["release_conversion", "let a conversion that is kept back count"],
} as const;

/** `adjust …`: takes back what was paid wrongly, gives back what was taken wrongly. */
export const command: OperatorCommand = {
	name: "adjust",
	add(program) {
		const adjust = program.command("adjust").description("void clicks and conversions, add or take amounts, undo that, list what was done");
		const voiding = withAdjustOptions(adjust.command("void-clicks")).description(
			"take paid clicks back: they leave the sums, and stand in reports as voided",
		);
		for (const option of SELECTED) {
			const [value, description] = SELECTION[option];
			voiding.option(`${flagOf(option)} <${value}>`, description);
		}
		voiding.action(voidClicks);
		for (const [name, [kind, description]] of Object.entries(CONVERSION_VERBS)) {
			withAdjustOptions(adjust.command(name))
				.description(description)
				.argument("<platform>", "its platform (the id in the network file)")
				.argument("<txnid>", "its transaction")
				.action((platform: string, txnid: string, options: AdjustOptions) => sendAdjustment(options, { kind, platform, txnid }));
		}
		withAdjustOptions(adjust.command("amount"))
			.description("add an amount to what a publisher has earned on a day, or take one")
			.argument("<publisher>", "its id in the network file")
			.argument("<date>", "the UTC day")
			.argument("<amount>", "USD; below zero it is taken")
			.action((publisher: string, date: string, amount: string, options: AdjustOptions) =>
				sendAdjustment(options, { kind: "amount", publisher, date, amount }),
			);
		withAdjustOptions(adjust.command("undo"))
			.description("undo an adjustment")
			.argument("<id>", "as `adjust list` shows it")
			.action((adjustment: string, options: AdjustOptions) => sendAdjustment(options, { kind: "undo", adjustment }));
		withServerOptions(adjust.command("list"))
			.description("list adjustments, the newest first")
			.option("--kind <kind>", oneOf(ADJUSTMENT_KINDS))
			.option("--from <time>", "made at or after this time or UTC date")
			.option("--to <time>", "made before this time; a date is included")
			.option("--limit <count>", "adjustments a page, at most 1000", "100")
			.option("--cursor <cursor>", "where the page before ended")
			.action(list);
	},
};

function voidClicks(options: VoidOptions): Promise<void> {
	const { campaign } = options;
	const selection = parametersOf(SELECTED, options);
	if (Object.keys(selection).length === 0) throw new Failure(`Which clicks? Name them by ${oneOf(SELECTED.map(flagOf))}.`);
	if (campaign !== undefined && !/^\d{1,15}$/.test(campaign)) throw new Failure("--campaign must be a campaign's number.");
	const request = { kind: "void_clicks", ...selection, ...(campaign !== undefined && { campaign: Number(campaign) }) };
	return sendAdjustment(options, request, SELECTED);
}

async function list(options: ListOptions): Promise<void> {
	const answer = await readPage(options, "/operator/adjustments", LISTED, adjustmentPageSchema);
	if (options.json) return console.log(JSON.stringify(answer, null, 2));
	if (answer.data.length === 0) return console.log(sayNone("adjustments", LISTED, options));
	for (const adjustment of answer.data) console.log(describeListed(adjustment));
	if (answer.next_cursor !== null) console.log(`There are more: --cursor ${answer.next_cursor}`);
}

function describeListed({ at, actor, kind, id, request, text, undone_by, complete, ...changes }: ListedAdjustment): string {
	const selected = Object.entries(request).flatMap(([name, value]) => (value === null ? [] : `${name} ${value}`));
	const state = `${complete ? "" : ", not complete: ask again with its id"}${undone_by === null ? "" : `, undone by ${undone_by}`}`;
	return [
		`${at}  ${actor}  ${kind.replaceAll("_", " ")}  ${selected.join(", ")}  (${id}${state})`,
		`    ${counted(changes.clicks, "click")}, ${counted(changes.conversions, "conversion")}, publisher revenue ${changes.publisher_revenue} USD, gross ${changes.gross_revenue} USD: ${text}`,
	].join("\n");
}
