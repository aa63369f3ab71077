/** Sends an adjustment to its end, and says what came of it. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import type * as v from "valibot";
import { type Adjusted, adjustedSchema } from "../../src/adjustments/adjustment-answer.ts";
import { isObject } from "../../src/lib/json.ts";
import { Failure } from "../local/failure.ts";
import { type Answer, callOperator, messageOf, type Target, Unanswered } from "./call-operator.ts";
import { type ServerOptions, withServerOptions } from "./command.ts";
import { describePlaces, readFaults } from "./import-report.ts";
import { readAnswer } from "./read-answer.ts";
import { targetOf } from "./target.ts";

export type AdjustOptions = ServerOptions & { text: string; dryRun?: boolean; id?: string };

export function withAdjustOptions(command: Command): Command {
	return withServerOptions(command)
		.requiredOption("--text <text>", "why: kept with the adjustment")
		.option("--dry-run", "only say what would change")
		.option("--id <id>", "of the adjustment, where it was cut off and is to go on (otherwise a new one)");
}

/** A request does a bounded number of clicks or conversions: asks under the same id until all is done. */
export async function sendAdjustment(
	{ text, dryRun, id = randomUUID(), ...options }: AdjustOptions,
	request: object,
	verb = "/operator/adjustments",
): Promise<void> {
	const path = `${verb}${dryRun ? "?dry_run=1" : ""}`;
	const ask = () => askUnderId(adjustedSchema, targetOf(options), path, { ...request, text }, id);
	let answer = await ask();
	while (!answer.complete && !answer.dry_run) answer = await ask();
	console.log(options.json ? JSON.stringify(answer, null, 2) : describeAdjusted(answer));
}

/** Sends what is done once under its id. Where no answer tells whether it was done, the failure says how to send it again. */
export async function askUnderId<const Schema extends v.GenericSchema>(
	schema: Schema,
	target: Target,
	path: string,
	fields: object,
	id: string,
): Promise<v.InferOutput<Schema>> {
	const again = `What it did is kept: \`adjust list\` shows it. The same with --id ${id} goes on, and does nothing twice.`;
	try {
		return take(schema, await callOperator(target, path, JSON.stringify({ ...fields, id })), { stands: again });
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
	return [
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

export function counted(count: number, thing: string): string {
	return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** How a command tells of what the server refuses, or cannot do. */
type Telling = {
	/** What of it stands where the server failed, and what to do then. */
	stands?: string | undefined;
	/** Its options, by the parameters that they are sent as, and what has no name: `{ date_order: "--date-order", "": "the file" }`. */
	names?: Readonly<Record<string, string>>;
	/** What to do about faults, as lines. */
	advise?: (faults: readonly Place[]) => readonly string[];
};
type Place = { path: string; message: string };

/** @throws Failure where the server refused, or answers something this CLI does not know */
export function take<const Schema extends v.GenericSchema>(
	schema: Schema,
	{ status, body }: Answer,
	{ stands = "See the server's log.", names = {}, advise = () => [] }: Telling = {},
): v.InferOutput<Schema> {
	if (status === 200) return readAnswer(schema, body);
	if (status === 422) {
		const { faults, fault_count } = readFaults(body);
		const places = faults.map(({ path, message }) => ({ path: nameOf(path, { "": "the request", ...names }), message }));
		const lines = [...describePlaces(places, fault_count), ...advise(faults)];
		throw new Failure(["The server refused, and nothing was changed:", ...lines].join("\n"));
	}
	const said = REFUSALS.has(status) ? wordsOf(body) : null;
	if (said !== null) throw new Failure(`The server refused, and nothing was changed: ${said}`);
	throw new Failure(`The server answered HTTP ${status} ${JSON.stringify(body).slice(0, 500)}\n${stands}`);
}

/** By which a server says in words why it does not: another state than was taken for granted, or a database that takes no writes. */
const REFUSALS: ReadonlySet<number> = new Set([409, 412, 503]);

/** @example nameOf("mapping.txnid", { mapping: "--mapping" }) // "--mapping txnid" */
function nameOf(path: string, names: Readonly<Record<string, string>>): string {
	const [first = "", ...rest] = path.split(".");
	return names[path] ?? (names[first] === undefined ? path : [names[first], ...rest].join(" "));
}

function wordsOf(body: unknown): string | null {
	return messageOf(body) ?? (isObject(body) && typeof body.error === "string" ? body.error : null);
}
