/** What a command makes of the server's answer: what it holds, or why the server refused or could not, and what to do next. */
import type * as v from "valibot";
import { UNAVAILABLE } from "../../src/lib/away.ts";
import { isObject } from "../../src/lib/json.ts";
import { Failure } from "../local/failure.ts";
import { type Answer, messageOf } from "./call-operator.ts";
import { describePlaces, readFaults } from "./import-report.ts";
import { readAnswer } from "./read-answer.ts";

/** How a command tells of what the server refuses, or cannot do. */
export type Telling = {
	/** Its options, by the parameters that they are sent as, and what has no name: `{ date_order: "--date-order", "": "the file" }`. */
	names?: Names;
	/** What to do about faults, as lines. */
	advise?: (faults: readonly Place[]) => readonly string[];
	/** What to do where more was sent than the server takes at once. */
	less?: string;
	/** What of it stands where the server failed, and what to do then. */
	stands?: string | undefined;
	/** Whether the command has done a part already: of what is refused then, that stands. */
	isBegun?: boolean;
};
export type Names = Readonly<Record<string, string>>;
type Place = { path: string; message: string };

/** @throws Failure where the server refused, could not, or answers something this CLI does not know */
export function take<const Schema extends v.GenericSchema>(
	schema: Schema,
	{ status, body }: Answer,
	{ names = {}, advise = () => [], less = "Send less at once.", stands = "See the server's log.", isBegun = false }: Telling = {},
): v.InferOutput<Schema> {
	if (status === 200) return readAnswer(schema, body);
	const refused = `The server refused, and nothing${isBegun ? " more" : ""} was changed:`;
	// In another state than was taken for granted, going on is not what to do: the server's words say what it is.
	const before = isBegun && status !== 409 && status !== 412 ? [stands] : [];
	if (status === 422) {
		const { faults, fault_count } = readFaults(body);
		const places = faults.map(({ path, message }) => ({ path: nameOf(path, { "": "the request", ...names }), message }));
		throw new Failure([refused, ...describePlaces(places, fault_count), ...advise(faults), ...before].join("\n"));
	}
	if (isUnavailable(body)) throw new Failure([wordsOf(body), stands].join("\n"));
	const said = REFUSALS.has(status) ? wordsOf(body) : null;
	if (said === null) throw new Failure(`The server answered HTTP ${status} ${JSON.stringify(body).slice(0, 500)}\n${stands}`);
	throw new Failure([`${refused} ${said}`, ...(status === 413 ? [less] : []), ...before].join("\n"));
}

/**
 * By which a server says in words why it does not: another state than was taken for granted, a body too large, or a database that
 * takes no writes.
 */
const REFUSALS: ReadonlySet<number> = new Set([409, 412, 413, 503]);

/** Whether something that the server needs was away: then nobody knows whether what was asked was done. */
export function isUnavailable(body: unknown): boolean {
	return isObject(body) && body.error === UNAVAILABLE;
}

/** @example nameOf("mapping.txnid", { mapping: "--mapping" }) // "--mapping txnid" */
function nameOf(path: string, names: Names): string {
	const [first = "", ...rest] = path.split(/\.|(?=\[)/);
	return names[path] ?? (names[first] === undefined ? path : [names[first], ...rest].join(" "));
}

function wordsOf(body: unknown): string | null {
	return messageOf(body) ?? (isObject(body) && typeof body.error === "string" ? body.error : null);
}
