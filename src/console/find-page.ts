import { ofSegment } from "../lib/path-segment.ts";
import type { Page } from "./page.ts";

/** A page that is asked for by GET, and the parts of its address by their names. */
export type FoundPage = { page: Page; param: (name: string) => string };

/** The page at an address, as the router has it: the first that fits. Null where there is none. @param pathname without query */
export function findPage(pages: readonly Page[], pathname: string): FoundPage | null {
	for (const page of pages) {
		if (page.method !== "GET") continue;
		const match = new RegExp(`^${page.path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`).exec(pathname);
		if (match !== null) return { page, param: (name) => ofSegment(decoded(match.groups?.[name] ?? "")) };
	}
	return null;
}

/** As the router has it: what cannot be decoded stays as it is. */
function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}
