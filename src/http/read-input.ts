/** Reads what a request of the operator's holds: its body under a cap, as JSON, by a schema. */
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as v from "valibot";
import { FLAGS } from "../lib/enums.ts";
import { jsonResponse } from "../lib/http.ts";
import { parseJson } from "../lib/json.ts";
import { type Fault, invalidInput } from "./errors.ts";
import { suggest } from "./suggest.ts";

/** Middleware that answers 413 to a body of more than `maxBytes`, before it is read if its length is declared. */
export function limitBody(maxBytes: number, error = `The body may hold at most ${maxBytes} bytes`): MiddlewareHandler {
	return bodyLimit({ maxSize: maxBytes, onError: () => jsonResponse({ error }, 413) });
}

/** How a fault is reported: in words made of the schema's issue, or as one fault for whatever is wrong. */
export type Telling = Fault | ((issue: v.BaseIssue<unknown>) => string);

/**
 * Reads a request's body as JSON, by the schema of an object. One that is not JSON, such as a form, is told so where no one fault stands
 * for all.
 * @throws HttpError 422 with a path and a message for each fault
 */
export async function readBody<Output>(
	request: Request,
	schema: v.GenericSchema<unknown, Output>,
	telling: Telling = describeIssue,
): Promise<Output> {
	const body = parseJson(await request.text());
	if (body === undefined && typeof telling === "function")
		throw invalidInput([{ path: "", message: "is not JSON: must be an object in JSON" }]);
	return readInput(schema, toInput(body), telling);
}

/** Valibot takes a list for an object without fields, which asks some verbs for all there is. */
function toInput(body: unknown): unknown {
	return Array.isArray(body) ? null : body;
}

/**
 * Reads the query of what only reads, by a closed schema: a misspelled filter would list all. An empty parameter counts as absent, as forms
 * and templates of links send it.
 * @throws HttpError 422 with a path and a message for each fault
 */
export function readQuery<Output>(schema: v.GenericSchema<unknown, Output>, query: Record<string, string>): Output {
	return readInput(schema, givenOf(query));
}

/** Every parameter but those that are empty. */
export function givenOf(query: Record<string, string>): Record<string, string> {
	return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));
}

/** @throws HttpError 422 that names each parameter that is given more than once: all but one of its values would be passed over */
export function assertGivenOnce(query: Record<string, string[]>): void {
	const twice = Object.keys(query).filter((name) => (query[name]?.length ?? 0) > 1);
	if (twice.length > 0) throw invalidInput(twice.map((path) => ({ path, message: GIVEN_TWICE })));
}

/** Of a parameter whose other value would be passed over. */
export const GIVEN_TWICE = "is given more than once";

/** A parameter that says yes by 1 or true; absent it says no. */
export const flag = v.pipe(
	v.optional(v.picklist(FLAGS, "must be 1 or 0"), "0"),
	v.transform((value) => value === "1" || value === "true"),
);

/** Closed: a mistyped dry_run would do what it was to preview. */
const dryRunSchema = v.strictObject({ dry_run: flag });

/** The query of a verb that can say what it would do: whether it is to say no more. @throws HttpError 422 for any other parameter */
export function readDryRun(query: Record<string, string>): boolean {
	return readInput(dryRunSchema, query).dry_run;
}

/** Middleware for verbs that take no query: 422 where a request that may change something has one. */
export const refuseQuery: MiddlewareHandler = async (c, next) => {
	if (c.req.method === "POST") assertNoQuery(c);
	return next();
};

/** @throws HttpError 422 that names each parameter of a request that takes none */
export function assertNoQuery(c: Context): void {
	readInput(v.strictObject({}), c.req.query());
}

/** @throws HttpError 422 for a body that holds something, such as a `dry_run` that the verb does not know: `{}`, `[]` and `null` hold nothing */
export async function assertNoBody(request: Request): Promise<void> {
	const text = await request.text();
	const body = parseJson(text);
	if (text.trim() !== "" && body !== null && !(Array.isArray(body) && body.length === 0)) readInput(v.strictObject({}), toInput(body));
}

/** Reads an input by a schema. @throws HttpError 422 with a path and a message for each fault */
export function readInput<Output>(schema: v.GenericSchema<unknown, Output>, input: unknown, telling: Telling = describeIssue): Output {
	const result = v.safeParse(schema, input, { abortPipeEarly: true });
	if (result.success) return result.output;
	if (typeof telling !== "function") throw invalidInput([telling]);
	throw invalidInput(result.issues.flatMap((issue) => faultsOf(issue, schema, telling, input)));
}

/** Where an issue stands in what was read. @example placeOf(issue) // ".brands[3].domain" */
export function placeOf(issue: v.BaseIssue<unknown>): string {
	return (issue.path ?? []).map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
}

/** Unknown fields of one object that are named. */
const MAX_UNKNOWN = 100;

/** The fault that an issue is; Valibot has one for the first of an object's unknown fields, which becomes one for each of them. */
function faultsOf(issue: v.BaseIssue<unknown>, schema: object, telling: (issue: v.BaseIssue<unknown>) => string, input: unknown): Fault[] {
	const path = placeOf(issue).replace(/^\./, "");
	const message = telling(issue);
	const unknown = unknownOf(issue);
	if (unknown === null) return [{ path, message }];
	const known = knownAt(schema, unknown.place, input);
	const others = known === null ? [] : Object.keys(unknown.among).filter((name) => name !== unknown.name && !known.includes(name));
	const above = path.slice(0, path.length - unknown.name.length);
	return [unknown.name, ...others]
		.slice(0, MAX_UNKNOWN)
		.map((name) => ({ path: `${above}${name}`, message: `${message}${suggest(name, known ?? [])}` }));
}

/**
 * The nearest known field, where an input has one that is not known; nothing of any other issue.
 * @param above where the issue's path begins in what `schema` is of
 */
export function suggestFor(issue: v.BaseIssue<unknown>, schema: object, above: readonly unknown[] = []): string {
	const unknown = unknownOf(issue);
	return unknown === null ? "" : suggest(unknown.name, knownAt(schema, [...above, ...unknown.place], undefined) ?? []);
}

/** The unknown field that an issue is of: its name, the object that it stands in, and where that is; null of any other issue. */
function unknownOf({ expected, path }: v.BaseIssue<unknown>) {
	const last = path?.at(-1);
	if (expected !== "never" || path === undefined || last === undefined) return null;
	return { name: String(last.key), among: last.input as object, place: path.slice(0, -1).map(({ key }) => key) };
}

/**
 * Names of the fields that a schema knows at a place; null where that cannot be told.
 * @param input what is read, by which it is told which of several ways to write it is meant; undefined for any of them
 */
function knownAt(schema: object, place: readonly unknown[], input: unknown): string[] | null {
	const [first, ...rest] = place;
	const { wrapped, options, item, entries, pipe } = schema as Readonly<Record<string, unknown>>;
	const inside = isObject(input) ? (input as Record<string, unknown>)[String(first)] : undefined;
	if (isObject(entries)) {
		if (place.length === 0) return Object.keys(entries);
		const name = String(first);
		const inner = Object.hasOwn(entries, name) ? (entries as Record<string, unknown>)[name] : null;
		return isObject(inner) ? knownAt(inner, rest, inside) : null;
	}
	if (isObject(wrapped)) return knownAt(wrapped, place, input);
	if (isObject(item)) return knownAt(item, rest, inside);
	if (Array.isArray(options)) {
		const known = meantOf(schema, options.filter(isObject), input).map((option) => knownAt(option, place, input));
		return known.every((names) => names === null) ? null : known.flatMap((names) => names ?? []);
	}
	for (const inner of Array.isArray(pipe) ? pipe.filter(isObject) : []) {
		const known = inner === schema ? null : knownAt(inner, place, input);
		if (known !== null) return known;
	}
	return null;
}

/** Of several ways to write something, those that the field which tells them apart names; all where none does. */
function meantOf(schema: object, options: readonly object[], input: unknown): readonly object[] {
	const { key } = schema as { key?: unknown };
	if (typeof key !== "string" || !isObject(input)) return options;
	const meant = options.filter((option) => {
		const telling = (option as { entries?: Record<string, v.GenericSchema> }).entries?.[key];
		return telling !== undefined && v.is(telling, (input as Record<string, unknown>)[key]);
	});
	return meant.length === 0 ? options : meant;
}

function isObject(value: unknown): value is object {
	return typeof value === "object" && value !== null;
}

/** The schema's own words, or what was expected: Valibot's words quote what was received, which may be a key. */
export function describeIssue(issue: v.BaseIssue<unknown>): string {
	if (!issue.message.startsWith("Invalid")) return issue.message;
	if (issue.expected === "never") return "is not a known field";
	if (issue.received === "undefined" && issue.path !== undefined) return "is required";
	return `must be ${KINDS[issue.expected ?? ""] ?? issue.expected ?? "valid"}`;
}

/** What Valibot calls by JavaScript's names. */
const KINDS: Readonly<Record<string, string>> = {
	Object: "an object",
	Array: "a list",
	string: "a text",
	number: "a number",
	boolean: "true or false",
};
