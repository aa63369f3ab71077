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
