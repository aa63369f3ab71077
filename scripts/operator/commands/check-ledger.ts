import { type LedgerAnswer, ledgerAnswerSchema } from "../../../src/ledger-check/ledger-answers.ts";
import { countedAs } from "../../../src/lib/counted.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeLedgerDifference, describeReasons } from "../describe-ledger.ts";
import { showLine } from "../progress.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

/** `check-ledger`: checks every conversion against its events and callbacks. */
export const command: OperatorCommand = {
	name: "check-ledger",
	add(program) {
		withServerOptions(program.command("check-ledger"))
			.description("check every conversion against its history, and what publishers were told against reports")
			.action(checkLedger);
	},
};

type Total = Omit<LedgerAnswer, "next_cursor">;

/** A request checks some conversions: asks until all are done. Exit code 1 where something differs. */
async function checkLedger(options: ServerOptions): Promise<void> {
	const target = targetOf(options);
	let total: Total | null = null;
	const end = showLine("Checking conversions …", () => `Checking conversions: ${total?.conversions ?? 0}`);
	try {
		for (let cursor: string | null | undefined; cursor !== null; ) {
			const answer = await callOperator(target, "/operator/check-ledger", JSON.stringify(cursor === undefined ? {} : { cursor }));
			const { next_cursor, ...part } = take(ledgerAnswerSchema, answer);
			total = total === null ? part : add(total, part);
			cursor = next_cursor;
		}
	} finally {
		end();
	}
	if (total === null) return;
	console.log(options.json ? JSON.stringify(total, null, 2) : describe(total).join("\n"));
	if (total.difference_count > 0) process.exitCode = 1;
}

function add(total: Total, part: Total): Total {
	const reasons = { ...total.reasons };
	for (const [reason, count] of Object.entries(part.reasons)) reasons[reason as keyof typeof reasons] += count;
	return {
		conversions: total.conversions + part.conversions,
		difference_count: total.difference_count + part.difference_count,
		differences: [...total.differences, ...part.differences],
		reasons,
	};
}

function describe({ conversions, difference_count, differences, reasons }: Total): string[] {
	const checked = `${conversions} ${conversions === 1 ? "conversion" : "conversions"}`;
	const more = difference_count > differences.length ? [`    … and ${difference_count - differences.length} more`] : [];
	const named = describeReasons(reasons).map((line) => `    ${line}`);
	return [
		difference_count === 0
			? `Checked ${checked}: each is what its events say, and publishers were told what reports show.`
			: `Checked ${checked}: ${countedAs(difference_count, "thing differs", "things differ")}.`,
		...differences.map((difference) => `    ${describeLedgerDifference(difference)}`),
		...more,
		...(named.length === 0 ? [] : ["Confirmed amounts that need not be those of reports, by why:", ...named]),
	];
}
