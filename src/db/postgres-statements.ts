/** Statements and their values, as PostgreSQL takes them and as D1 gives them back. */
import { Md5 } from "ts-md5";
import { putBounded } from "../lib/bounded-map.ts";
import type { Answer, Parameter, Sent } from "./exchange.ts";
import { numberParameters } from "./number-parameters.ts";

const MAX_TEXTS = 2_000;

/** A statement as PostgreSQL gets it, but for its parameters. */
type Prepared = Pick<Sent, "name" | "text">;

const prepared = new Map<string, Prepared>();

export function toSent({ text, parameters }: { text: string; parameters: readonly Parameter[] }): Sent {
	// Named by the text alone: behind a pool a connection may know what another isolate has prepared.
	const known = prepared.get(text) ?? putBounded(prepared, text, { name: Md5.hashStr(text), text: numberParameters(text) }, MAX_TEXTS);
	return { ...known, parameters };
}

/**
 * From now on this isolate sends them without their names, so that they are planned anew. Another connection might know the old plan too:
 * a pool hands out those that others have used.
 */
export function forgetNames(statements: readonly { text: string }[]): void {
	for (const { text } of statements) putBounded(prepared, text, { text: numberParameters(text) }, MAX_TEXTS);
}

type Row = Record<string, unknown>;
export type Result = { success: true; results: Row[]; meta: { changes: number } };

export function toResult({ names, rows, changes }: Answer): Result {
	const results = rows.map((cells) => {
		const row: Row = {};
		for (const [at, name] of names.entries()) row[name] = cells[at];
		return row;
	});
	return { success: true, results, meta: { changes } };
}

export function isRead(text: string): boolean {
	return /^\s*(?:SELECT|WITH)\b/i.test(text) && !/\b(?:INSERT|UPDATE|DELETE)\b/i.test(text);
}

/** JSON with such an escape in it. A text that is not JSON has a backslash of its own. */
const ESCAPED = /^[[{][\s\S]*\\u(?:0000|d[89a-f])/i;

/** As SQLite stores it. PostgreSQL's text holds neither NUL nor half a surrogate pair: they become U+FFFD. */
export function toParameter(value: unknown): Parameter {
	if (value === null || typeof value === "number") return value;
	if (typeof value === "boolean") return Number(value);
	if (typeof value !== "string") throw new TypeError(`a parameter cannot be of type ${typeof value}`);
	return (value.includes("\\u") && ESCAPED.test(value) ? withoutEscapes(value) : value).toWellFormed().replaceAll("\0", "\ufffd");
}

/** JSON in which neither is escaped. */
function withoutEscapes(text: string): string {
	return text.replace(/\\(?:u0000|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2}|[\s\S])/gi, (part) =>
		/^\\u(?:0000|d[89a-f])/i.test(part) && part.length === 6 ? "\ufffd" : part,
	);
}
