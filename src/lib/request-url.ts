/**
 * Reads the path of a request's URL by hand, for what is recognised by its path before any router: to parse the URL would cost more than
 * to answer.
 */

/** Where the path of an absolute URL begins: the index of its slash. */
export function pathStartOf(url: string): number {
	return url.indexOf("/", url.indexOf("//") + 2);
}

/** Whether the path that begins at `start` is `path`, or, with `below`, lies under it. */
export function isPathAt(url: string, start: number, path: string, below: boolean): boolean {
	if (!url.startsWith(path, start)) return false;
	const next = url.charAt(start + path.length);
	return next === "" || next === "?" || next === "#" || (below && next === "/");
}

/** The query whose question mark is at `at`, without the mark and without a fragment. */
export function searchAt(url: string, at: number): string {
	const end = url.indexOf("#", at);
	return url.slice(at + 1, end === -1 ? undefined : end);
}
