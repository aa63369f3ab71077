import { counted } from "../../../src/lib/counted.ts";
import { STATEMENT_FIELDS } from "../../../src/lib/enums.ts";
import { type Reconciled, reconciledSchema } from "../../../src/operator/statement/statement-answers.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { eachOnce } from "../each-once.ts";
import { namesOf } from "../option-names.ts";
import { readBytes } from "../read-input.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type ReconcileOptions = ServerOptions & { platform: string; mapping?: string; dateOrder?: string; apply?: boolean };

/** `reconcile`: compares a platform's own statement with the ledger, and applies it. */
export const command: OperatorCommand = {
	name: "reconcile",
	add(program) {
		withServerOptions(program.command("reconcile"))
			.description("compare a platform's own statement (CSV) with the conversions here, and apply it")
			.argument("<file>", "the statement, or - for standard input")
			.requiredOption("--platform <id>", "whose it is (the id in the network file)")
			.option("--mapping <columns>", 'columns that the header does not tell: "txnid=Order ID,payout=Fee,date=Day"')
			.option("--date-order <order>", "dmy or mdy, where dates such as 10/11/2026 could be both")
			.option("--apply", "make postbacks of what differs; otherwise it is only told")
			.addHelpText("after", "\nExports of Awin, impact.com, CJ and Rakuten are told by their headers. A file is applied once.")
			.action(reconcile);
	},
};

const NAMES = { ...namesOf(["platform", "mapping", "dateOrder", "apply"]), "": "the file" };
const MAPPING = `--mapping "txnid=Order ID,payout=Fee" says which column is which, of ${STATEMENT_FIELDS.join(", ")}.`;

const UNKNOWN_STATUS =
	"First put the words of unknown status into the platform's status_map: a file that was applied without them changes nothing again.";
const STILL = " What differs still, a newer statement settles.";

/** A request applies some: asks with the same file until all of it is. */
async function reconcile(file: string, { platform, mapping, dateOrder, apply, ...options }: ReconcileOptions): Promise<void> {
	const body = await readBytes(file, "a platform's statement");
	const query = new URLSearchParams({
		platform,
		...(mapping !== undefined && { mapping: JSON.stringify(readMapping(mapping)) }),
		...(dateOrder !== undefined && { date_order: dateOrder }),
		...(apply && { apply: "1" }),
	});
	const telling = {
		names: NAMES,
		less: "Split the statement by days: each part may be given on its own.",
		stands: apply ? "What was applied is kept: give the command again, and it goes on." : undefined,
		advise: (faults: readonly { path: string }[]) => (faults.some((fault) => fault.path.startsWith("mapping")) ? [MAPPING] : []),
	};
	const ask = async (isBegun = false) =>
		take(reconciledSchema, await callOperator(targetOf(options), `/operator/reconcile?${query}`, body), { ...telling, isBegun });
	const first = await ask();
	let last = first;
	let conversions = first.conversions;
	while (apply && !last.complete && last.applied_at === null) {
		last = await ask(true);
		conversions += last.conversions;
	}
	const whole = { ...first, applied: last.applied, applied_at: last.applied_at, complete: last.complete, conversions };
	console.log(options.json ? JSON.stringify(whole, null, 2) : describe(whole).join("\n"));
}

function readMapping(text: string): Record<string, string> {
	const pairs = text.split(",").map((pair) => {
		const at = pair.indexOf("=");
		const [field, column] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
		if (column === "" || !STATEMENT_FIELDS.some((name) => name === field))
			throw new Failure(`--mapping has ${JSON.stringify(pair.trim())}, but must be fields and their columns.\n${MAPPING}`);
		return [field, column] as const;
	});
	return eachOnce(pairs, "In --mapping the field");
}

function describe(report: Reconciled): string[] {
	const { layout, rows, transactions, faults, fault_count, counts, data, applied, applied_at, dry_run } = report;
	const differing = Object.entries(counts).filter(([, count]) => count > 0);
	const total = differing.reduce((sum, [, count]) => sum + count, 0);
	return [
		`${counted(rows, "row")}, ${counted(transactions, "transaction")} (${layout === "mapping" ? "columns as named" : `a statement of ${layout}`}).`,
		...faults.slice(0, 10).map(({ line, message }) => `    line ${line}: ${message.replace(/say date_order$/, "say --date-order")}`),
		...(fault_count > 10 ? [`    … and ${fault_count - 10} more rows that cannot be read`] : []),
		total === 0
			? fault_count === 0
				? "Nothing differs."
				: "Nothing differs of the rows that can be read."
			: `${differing.map(([kind, count]) => `${count} ${kind.replaceAll("_", " ")}`).join(", ")}:`,
		...data.map((difference) => `    ${describeDifference(difference)}`),
		...(total > data.length ? [`    … and ${total - data.length} more`] : []),
		...(dry_run
			? [
					`Applying it would change ${counted(report.conversions, "conversion")}: publisher revenue by ${report.publisher_revenue} USD, gross by ${report.gross_revenue} USD.`,
				]
			: [`${counted(applied, "postback")} made of it changed ${counted(report.conversions, "conversion")} now.`]),
		...(counts.unknown_status > 0 && applied_at === null ? [UNKNOWN_STATUS] : []),
		...(applied_at === null ? [] : [`It was applied at ${applied_at}: the same file changes nothing again.${total > 0 ? STILL : ""}`]),
	];
}

function describeDifference({ kind, txnid, other_txnid, ours, theirs, applies }: Reconciled["data"][number]): string {
	const stage = ours === null || ours.stage === "settled" ? "" : `${ours.stage}, `;
	const here = ours === null ? "not here" : `here ${stage}${ours.status}, ${ours.payout} ${ours.currency}`;
	const there =
		theirs === null ? "not there" : `there ${theirs.status ?? "no status"}, ${theirs.payout} ${theirs.currency ?? ""}`.trimEnd();
	const other = other_txnid === null ? "" : `, the same sale as ${other_txnid}`;
	return `${txnid}  ${kind.replaceAll("_", " ")}: ${here}, ${there}${other}${applies ? "" : " (only told)"}`;
}
