/** Ids in the paths of URLs, of the console and of operators' verbs. */

/**
 * An id as a segment of a path. `.` and `..`, which URLs lose however they are escaped, have a blank behind them: no id that is stored ends
 * with one.
 * @example segmentOf("a/b") === "a%2Fb", segmentOf("..") === "..%20"
 */
export function segmentOf(id: string): string {
	return `${encodeURIComponent(id)}${id === "." || id === ".." ? "%20" : ""}`;
}

/** The id of a segment that {@link segmentOf} wrote. @param text decoded already */
export function ofSegment(text: string): string {
	return /^\.\.? $/.test(text) ? text.trimEnd() : text;
}
