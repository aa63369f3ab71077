/** Queries of the lists of entries. */
import * as v from "valibot";
import { countryCode } from "../../http/filters.ts";
import { cursorOf } from "../../http/pages.ts";
import { readQuery } from "../../http/read-input.ts";
import { PUBLISHER_STATUSES } from "../../lib/enums.ts";
import { canonicalHost } from "../../lib/host.ts";
import { pageLimit } from "../../lib/page-cursor.ts";
import { count } from "../../lib/shapes.ts";
import type { EntrySection } from "./entry-answers.ts";

const text = v.optional(
	v.pipe(
		v.string(),
		v.nonEmpty("must not be blank"),
		v.maxLength(200, "must have at most 200 characters"),
		// SQLite may end a text at a NUL: an empty one is in every name.
		v.excludes("\0", "must not hold control characters"),
	),
);
const active = v.optional(
	v.pipe(
		v.picklist(["true", "false"], "must be true or false"),
		v.transform((value) => value === "true"),
	),
);
const country = v.optional(countryCode("must be a two-letter country code such as US"));
const domain = v.optional(
	v.pipe(
		v.string(),
		v.transform((value) => canonicalHost(value) ?? ""),
		v.nonEmpty("must be a domain such as shoes.example"),
	),
);
const status = v.optional(v.picklist(PUBLISHER_STATUSES, "must be active or suspended"));

/** Of each list, beside its page. */
export const FILTERS = {
	platforms: { text },
	publishers: { text, status, blocks: domain },
	brands: { text, active, category: text },
	campaigns: { active, brand: domain, platform: text, country },
} as const;

/** What each list takes, closed: a mistyped filter would show everything. */
const listQueries = {
	platforms: v.strictObject({ limit: pageLimit, cursor: cursorOf(v.tuple([v.string()])), ...FILTERS.platforms }),
	publishers: v.strictObject({ limit: pageLimit, cursor: cursorOf(v.tuple([v.string()])), ...FILTERS.publishers }),
	brands: v.strictObject({ limit: pageLimit, cursor: cursorOf(v.tuple([v.string()])), ...FILTERS.brands }),
	campaigns: v.strictObject({ limit: pageLimit, cursor: cursorOf(v.tuple([count])), ...FILTERS.campaigns }),
} as const;

export type ListQuery = {
	limit: number;
	cursor: readonly [string | number] | null;
	text?: string | undefined;
	active?: boolean | undefined;
	status?: string | undefined;
	brand?: string | undefined;
	blocks?: string | undefined;
	category?: string | undefined;
	platform?: string | undefined;
	country?: string | undefined;
};

/** @throws HttpError 422 */
export function readListQuery(section: EntrySection, query: Record<string, string>): ListQuery {
	const { cursor, ...read } = readQuery<v.InferOutput<(typeof listQueries)[EntrySection]>>(listQueries[section], query);
	return { ...read, cursor: cursor ?? null };
}
