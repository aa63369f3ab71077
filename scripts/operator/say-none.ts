import { flagOf } from "./option-names.ts";

/** Which page of a list, not what is looked for. */
const PAGING: ReadonlySet<string> = new Set(["limit", "cursor"]);

/**
 * That nothing was found, and what was looked for.
 * @param what such as "clicks"
 * @example sayNone("clicks", ["source", "limit"], { source: "news" }) // 'There are no clicks with --source "news".'
 */
export function sayNone<Option extends string>(
	what: string,
	options: readonly Option[],
	given: Readonly<Partial<Record<Option | "cursor", string | undefined>>>,
): string {
	return `There are no ${given.cursor === undefined ? "" : "further "}${what}${saySought(options, given)}.`;
}

/** What was looked for, to follow a noun; empty for all there is. @example ' with --publisher "acme-media"' */
export function saySought<Option extends string>(
	options: readonly Option[],
	given: Readonly<Partial<Record<Option, string | undefined>>>,
): string {
	const sought = options.flatMap((option) => {
		const value = given[option];
		return value === undefined || PAGING.has(option) ? [] : [`${flagOf(option)} ${JSON.stringify(value)}`];
	});
	return sought.length === 0 ? "" : ` with ${sought.join(", ")}`;
}
