import { type MoveAnswer, moveAnswerSchema } from "../../../src/database-move/move-answers.ts";
import { counted, countedAs } from "../../../src/lib/counted.ts";
import { callOperator, type Target } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { showLine } from "../progress.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type MoveOptions = ServerOptions & { cancel?: boolean };

/** `database move`: moves the network database from D1 to PostgreSQL. */
export const command: OperatorCommand = {
	name: "database",
	add(program) {
		const database = program.command("database").description("the network database");
		withServerOptions(database.command("move"))
			.description("move the network database from D1 to PostgreSQL; run it again wherever it broke off")
			.option("--cancel", "take the move back: D1 takes writes again")
			.action(moveDatabase);
	},
};

const DOING = { copy: "copying", sums: "adding up", rows: "comparing" } as const;

/** A request moves some rows: asks until all are moved. Exit code 1 where the copy is not the same. */
async function moveDatabase({ cancel = false, ...options }: MoveOptions): Promise<void> {
	const target = targetOf(options);
	if (cancel) return print(await ask(target, { cancel }), options);
	let said = "Moving the network database …";
	const end = showLine(said, () => said);
	const differences: MoveAnswer["differences"] = [];
	let answer: MoveAnswer | undefined;
	try {
		do {
			answer = await ask(target, answer === undefined ? {} : { go_on: true }, answer !== undefined);
			differences.push(...answer.differences);
			said = describeProgress(answer);
		} while (answer.outcome === "unfinished");
	} finally {
		end();
	}
	print({ ...answer, differences }, options);
	if (answer.outcome === "differs") process.exitCode = 1;
}

function describeProgress({ step, table, tables }: MoveAnswer): string {
	const rows = sum(tables.map(({ copied, compared }) => (step === "rows" ? compared : copied)));
	const place = tables.findIndex((one) => one.table === table) + 1;
	return step === null
		? "Moved"
		: `Moving the network database: ${DOING[step]} ${table} (${place} of ${tables.length} tables), ${rows} rows so far`;
}

function print(answer: MoveAnswer, { json }: ServerOptions): void {
	console.log(json ? JSON.stringify(answer, null, 2) : describe(answer).join("\n"));
}

function describe({ outcome, tables, difference_count, differences }: MoveAnswer): string[] {
	if (outcome === "switched") return ["The network uses PostgreSQL: the move is done, and D1 takes no more writes."];
	if (outcome === "cancelled")
		return ["Cancelled: D1 takes writes again, and nothing was lost. What was copied is cleared by the next move."];
	if (outcome === "differs") {
		return [
			`${countedAs(difference_count, "thing differs", "things differ")} between D1 and PostgreSQL:`,
			...differences.map((difference) => `    ${describeDifference(difference)}`),
			"Nothing was switched. Compare again: database move. Start again: database move --cancel, then database move.",
		];
	}
	return [
		`Moved ${counted(sum(tables.map(({ copied }) => copied)), "row")} of ${tables.length} tables: every row, and the sum of every column, is the same in both.`,
		...tables.filter(({ copied }) => copied > 0).map(({ table, copied }) => `    ${table} ${copied}`),
		'To switch: set NETWORK_DATABASE = "postgres" in wrangler.toml, or remove it, and deploy. Within a minute PostgreSQL takes writes.',
		"Until then neither database does, and `database move --cancel` goes back.",
	];
}

function describeDifference({ table, kind, key, column, from, to }: MoveAnswer["differences"][number]): string {
	if (kind === "sum") return `${table}: ${column} adds up to ${from} in D1, to ${to} in PostgreSQL, up to ${key ?? "the end"}`;
	if (kind === "other") return `${table} ${key}: ${column} is not the same`;
	return `${table} ${key}: ${kind === "missing" ? "PostgreSQL lacks it" : "D1 has no such row"}`;
}

function sum(counts: readonly number[]): number {
	return counts.reduce((total, count) => total + count, 0);
}

async function ask(target: Target, body: object, isBegun = false): Promise<MoveAnswer> {
	return take(moveAnswerSchema, await callOperator(target, "/operator/database/move", JSON.stringify(body)), {
		stands: "What was copied stays: run this again and it goes on. See the server's log.",
		isBegun,
	});
}
