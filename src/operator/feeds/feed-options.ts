/** Reads the query of a feed upload. */
import * as v from "valibot";
import { type Fault, invalidInput } from "../../http/errors.ts";
import { flag, GIVEN_TWICE } from "../../http/read-input.ts";
import { parseJson } from "../../lib/json.ts";
import { isEncoding } from "./decode-feed.ts";
import { type FeedKind, fieldsOf } from "./feed-columns.ts";

/** What a feed replaces: what there is of the brands in it, or of all brands. */
const REPLACE_SCOPES = ["domains", "all"] as const;
export type ReplaceScope = (typeof REPLACE_SCOPES)[number];

export type FeedOptions = {
	/** Names the upload where it comes in several parts, or something is replaced. */
	feed: string | null;
	/** What is removed once this part is taken over. */
	replace: ReplaceScope | null;
	/** Line of the first record behind the header, in the whole feed. */
	line: number | null;
	/** Of its text; null where its first bytes tell UTF-8 and UTF-16 apart. */
	encoding: string | null;
	/** Column of the feed → field. */
	mapping: Record<string, string>;
	idPrefix: string;
	constants: Map<string, string>;
	/** Only says what would be taken over. */
	isDryRun: boolean;
	/** Whether most products may be removed. */
	isConfirmed: boolean;
};

/** As `replace` may name them. */
const SCOPES: ReadonlyMap<string, ReplaceScope | null> = new Map([
	["", null],
	["false", null],
	["true", "domains"],
	...REPLACE_SCOPES.map((scope) => [scope, scope] as const),
]);
/** What `replace` may be where it is not empty. */
export const REPLACE_WORDS = [...SCOPES.keys()].filter((word) => word !== "");
export const MAX_LINE = 1_000_000_000;
export const FEED_NAME = /^[\w-]{1,64}$/;

/**
 * `feed`, `replace` (`domains` or `all`), `line`, `encoding`, `mapping` (a JSON object), `id_prefix`, `dry_run`, `yes`; any other parameter is a field with its
 * value for the whole feed.
 * @throws HttpError 422 that names each parameter at fault
 */
export function readFeedOptions(kind: FeedKind, query: URLSearchParams): FeedOptions {
	const faults: Fault[] = [];
	const blame = (path: string, message: string) => faults.push({ path, message });
	const fields = fieldsOf(kind);
	const constants = new Map<string, string>();
	const repeated = new Set<string>();
	for (const [name, value] of query) {
		if (query.getAll(name).length > 1) repeated.add(name);
		if (OPTIONS.has(name) || value.trim() === "") continue;
		if (fields.includes(name)) constants.set(name, value.trim());
		else blame(name, `is neither an option of a feed nor one of its fields: ${[...OPTIONS, ...fields].join(", ")}`);
	}
	for (const name of repeated) blame(name, GIVEN_TWICE);
	const replace = SCOPES.get(query.get("replace") ?? "");
	if (replace === undefined) blame("replace", "must be domains or all");
	const readFlag = (name: string) => {
		const read = v.safeParse(flag, query.get(name) || undefined);
		if (!read.success) blame(name, read.issues[0].message);
		return read.success && read.output;
	};
	const isDryRun = readFlag("dry_run");
	const isConfirmed = readFlag("yes");
	const line = query.get("line") === null ? null : Number(query.get("line"));
	if (line !== null && !(Number.isInteger(line) && line >= 1 && line <= MAX_LINE)) blame("line", "must be a line number");
	const feed = query.get("feed");
	if (feed !== null && !FEED_NAME.test(feed)) blame("feed", "must have 1 to 64 letters, digits, underscores or hyphens");
	const encoding = query.get("encoding")?.trim() || null;
	if (encoding !== null && !isEncoding(encoding)) blame("encoding", "must name an encoding, such as windows-1252 or shift_jis");
	const mapping = readMapping(query.get("mapping"), fields);
	if (typeof mapping === "string") blame("mapping", mapping);
	if (faults.length > 0) throw invalidInput(faults);
	return {
		feed,
		replace: replace ?? null,
		line,
		encoding,
		mapping: typeof mapping === "string" ? {} : mapping,
		idPrefix: query.get("id_prefix")?.trim() ?? "",
		constants,
		isDryRun,
		isConfirmed,
	};
}

const OPTIONS = new Set(["feed", "replace", "line", "encoding", "mapping", "id_prefix", "dry_run", "yes"]);

/** The mapping, or what is wrong with it. */
function readMapping(text: string | null, fields: readonly string[]): Record<string, string> | string {
	if (text === null || text.trim() === "") return {};
	const value = parseJson(text);
	if (value === undefined) return "is not JSON";
	if (typeof value !== "object" || value === null || Array.isArray(value)) return 'must be an object such as {"Item name": "name"}';
	const unknown = Object.entries(value).filter(([, field]) => !fields.includes(field));
	if (unknown.length > 0) return `maps ${unknown.map(([column]) => column).join(", ")} to no field. Fields: ${fields.join(", ")}`;
	return value as Record<string, string>;
}
