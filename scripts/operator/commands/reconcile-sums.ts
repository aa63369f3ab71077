import { counted, countedAs } from "../../../src/lib/counted.ts";
import { type ReconcileAnswer, reconcileAnswerSchema } from "../../../src/reconcile/reconcile-answers.ts";
import { callOperator, type Target } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeSum } from "../describe-sum.ts";
import { namesOf } from "../option-names.ts";
import { showLine } from "../progress.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type ReconcileOptions = ServerOptions & { from?: string; to?: string; repair?: boolean };

/** `reconcile-sums`: compares all counters with the rows they were made of. */
export const command: OperatorCommand = {
	name: "reconcile-sums",
	add(program) {
		withServerOptions(program.command("reconcile-sums"))
			.description("compare every counter (reports, caps, budgets) with the clicks, conversions and adjustments it was made of")
			.option("--from <day>", "first day, YYYY-MM-DD in UTC (otherwise the first there is)")
			.option("--to <day>", "last day (otherwise today)")
			.option("--repair", "write the counters right")
			.action(reconcileSums);
	},
};

type Total = Pick<ReconcileAnswer, "days" | "campaigns" | "clicks_gone" | "difference_count" | "differences">;

/** A request compares some days: asks until all are done. Exit code 1 where differences stand. */
async function reconcileSums({ from, to, repair = false, ...options }: ReconcileOptions): Promise<void> {
	const target = targetOf(options);
	const asked = { ...(from !== undefined && { from }), ...(to !== undefined && { to }), repair };
	const total: Total = { days: 0, campaigns: 0, clicks_gone: [], difference_count: 0, differences: [] };
	let ofDays = 0;
	const end = showLine("Comparing counters with their rows …", () => `Comparing counters with their rows: ${total.days} of ${ofDays} days`);
	try {
		for (let cursor: string | null | undefined; cursor !== null; ) {
			const answer = await ask(target, { ...asked, ...(cursor !== undefined && { cursor }) }, cursor !== undefined);
			ofDays = answer.of_days;
			total.days += answer.days;
			total.campaigns += answer.campaigns;
			total.difference_count += answer.difference_count;
			total.clicks_gone.push(...answer.clicks_gone);
			total.differences.push(...answer.differences);
			cursor = answer.next_cursor;
		}
	} finally {
		end();
	}
	if (options.json) console.log(JSON.stringify({ ...total, repaired: repair && total.difference_count > 0 }, null, 2));
	else console.log(describe(total, repair).join("\n"));
	if (total.difference_count > 0 && !repair) process.exitCode = 1;
}

function describe({ days, campaigns, clicks_gone, difference_count, differences }: Total, repair: boolean): string[] {
	const compared = `${days} ${days === 1 ? "day" : "days"} and the totals of ${campaigns} ${campaigns === 1 ? "campaign" : "campaigns"}`;
	const gone =
		clicks_gone.length === 0
			? []
			: [`Not compared: sums of clicks of ${counted(clicks_gone.length, "day")} up to ${clicks_gone.at(-1)}, whose clicks were removed.`];
	if (difference_count === 0) return [`Compared ${compared}: every counter is what its rows give.`, ...gone];
	const more = difference_count > differences.length ? [`… and ${difference_count - differences.length} more`] : [];
	const end = repair ? "They were written right." : "Nothing was changed: --repair writes the counters right.";
	return [
		`Compared ${compared}: ${countedAs(difference_count, "sum differs", "sums differ")}.`,
		...differences.map((difference) => `    ${describeSum(difference)}`),
		...more,
		...gone,
		end,
	];
}

async function ask(target: Target, body: object, isBegun: boolean): Promise<ReconcileAnswer> {
	return take(reconcileAnswerSchema, await callOperator(target, "/operator/reconcile-sums", JSON.stringify(body)), {
		names: namesOf(["from", "to", "repair"]),
		stands: "What was compared before stands: give the command again. See the server's log.",
		isBegun,
	});
}
