/** Sends an adjustment to its end, and says what came of it. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type * as v from "valibot";
import { type Adjusted, adjustedSchema } from "../../src/adjustments/adjustment-answer.ts";
import { counted } from "../../src/lib/counted.ts";
import { Failure } from "../local/failure.ts";
import { callOperator, type Target, Unanswered } from "./call-operator.ts";
import { type ServerOptions, withServerOptions } from "./command.ts";
import { namesOf } from "./option-names.ts";
import { type Names, take } from "./take-answer.ts";
import { targetOf } from "./target.ts";

export type AdjustOptions = ServerOptions & { text: string; dryRun?: boolean; id?: string };

export function withAdjustOptions(command: Command): Command {
	return withServerOptions(command)
		.requiredOption("--text <text>", "why: kept with the adjustment")
		.option("--dry-run", "only say what would change")
		.option("--id <id>", "of the adjustment, where it was cut off and is to go on (otherwise a new one)");
}

/**
 * A request does a bounded number of clicks or conversions: asks under the same id until all is done.
 * @param chosen options that the request was made of
 */
export async function sendAdjustment(
	{ text, dryRun, id = randomUUID(), ...options }: AdjustOptions,
	request: object,
	chosen: readonly string[] = [],
	verb = "/operator/adjustments",
): Promise<void> {
	const asked = { path: `${verb}${dryRun ? "?dry_run=1" : ""}`, fields: { ...request, text }, id, names: namesOf(chosen) };
	let answer = await askUnderId(adjustedSchema, targetOf(options), asked);
	while (!answer.complete && !answer.dry_run) answer = await askUnderId(adjustedSchema, targetOf(options), { ...asked, isBegun: true });
	console.log(options.json ? JSON.stringify(answer, null, 2) : describeAdjusted(answer));
}

/** What is done once under its id. */
type Asked = {
	path: string;
	fields: object;
	id: string;
	/** Names of the options that the fields were made of. */
	names: Names;
	/** Whether a part of it was done under this id already. */
	isBegun?: boolean;
};

const SHARED_NAMES = namesOf(["text", "id"]);

/** Sends what is done once under its id. Where no answer tells whether it was done, the failure says how to send it again. */
export async function askUnderId<const Schema extends v.GenericSchema>(
	schema: Schema,
	target: Target,
	{ path, fields, id, names, isBegun = false }: Asked,
): Promise<v.InferOutput<Schema>> {
	const again = `What it did is kept: \`adjust list\` shows it. The same with --id ${id} goes on, and does nothing twice.`;
	try {
		const answer = await callOperator(target, path, JSON.stringify({ ...fields, id }));
		return take(schema, answer, { names: { ...SHARED_NAMES, ...names }, stands: again, isBegun });
	} catch (error) {
		if (error instanceof Unanswered) throw new Failure(`${error.message}\n${again}`);
		throw error;
	}
}

/** What an adjustment changed, or would, in words. */
export function describeAdjusted(answer: Adjusted): string {
	const { clicks, conversions, complete, dry_run, id } = answer;
	const changed = [...(clicks > 0 ? [counted(clicks, "click")] : []), ...(conversions > 0 ? [counted(conversions, "conversion")] : [])];
	// Of an amount, the money alone tells what changed.
	const isMoneyAlone = changed.length === 0 && Number(answer.publisher_revenue) !== 0;
	const things = changed.length > 0 ? changed.join(" and ") : "Nothing";
	const least = complete ? "" : "At least: ";
	const { alike } = answer;
	return [
		...(alike === null ? [] : [`The same amount is on that day already, by adjustment ${alike}: is this one meant?`]),
		...(isMoneyAlone ? [] : [`${least}${things} ${dry_run ? "would change" : "changed"}.`]),
		`${dry_run ? "Would change" : "Changed"} publisher revenue by ${answer.publisher_revenue} USD, gross by ${answer.gross_revenue} USD.`,
		...(id === null ? [] : [describeId(answer.kind, id)]),
	].join("\n");
}

function describeId(kind: Adjusted["kind"], id: string): string {
	if (kind === "revalue") return `Adjustment ${id}: importing the rates of before and revaluing again undoes it.`;
	if (kind === "undo") return `Adjustment ${id}.`;
	return `Adjustment ${id}: \`adjust undo ${id} --text …\` undoes it.`;
}
