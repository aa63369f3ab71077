import type { ServerOptions } from "./command.ts";
import { fetchEntry } from "./entries.ts";

/** Filters that name an entry of the network file. */
const NAMED = { publisher: "publishers", brand: "brands", blocks: "brands", campaign: "campaigns", platform: "platforms" } as const;

/**
 * Where nothing was found, it may be that what a filter names is not there: asks for that entry.
 * @throws Failure where it is not
 */
export async function refuseUnknown(
	options: ServerOptions,
	filters: Readonly<Partial<Record<keyof typeof NAMED, string | undefined>>>,
): Promise<void> {
	for (const name of Object.keys(NAMED) as (keyof typeof NAMED)[]) {
		const id = filters[name];
		if (id !== undefined && id !== "") await fetchEntry(NAMED[name], id, options);
	}
}
