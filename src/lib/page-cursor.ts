import * as v from "valibot";

/** Most rows of a page, and how many it has where nobody says. */
export const MAX_ROWS = 1_000;
export const DEFAULT_ROWS = 100;

/** `limit` of a list's query. */
export const pageLimit = v.optional(
	v.pipe(
		v.string(),
		v.regex(/^\d{1,9}$/, "must be a whole number"),
		v.transform(Number),
		v.minValue(1, "must be at least 1"),
		v.maxValue(MAX_ROWS, `must be at most ${MAX_ROWS}`),
	),
	String(DEFAULT_ROWS),
);

/** The row that a page of a list ends with: lists are ordered by time, and where times are equal by id. */
export type Position = { at: number; id: string };

export type PageCursor = {
	/** What a cursor looks like. */
	pattern: RegExp;
	/** Null where there is no cursor, or it is none. */
	read: (cursor: string | undefined) => Position | null;
	write: (last: Position) => string;
};

/** A position as the text that a caller asks for the next page with. */
function pageCursor(separator: "." | "_", id: RegExp): PageCursor {
	const pattern = new RegExp(`^(\\d{1,15})${separator.replace(".", "\\.")}(${id.source})$`);
	return {
		pattern,
		read(cursor) {
			const [, at, lastId] = pattern.exec(cursor ?? "") ?? [];
			return at === undefined || lastId === undefined ? null : { at: Number(at), id: lastId };
		},
		write: (last) => `${last.at}${separator}${last.id}`,
	};
}

/** Of the operator's lists. */
export const OPERATOR_CURSOR = pageCursor(".", /.{1,64}/);
/** Of a publisher's clicks. */
export const CLICKS_CURSOR = pageCursor("_", /[\da-z-]{1,64}/);
