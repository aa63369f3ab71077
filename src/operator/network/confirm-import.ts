/** What an import does only once somebody has confirmed it. */
import { countedAs } from "../../lib/counted.ts";
import { HttpError } from "../../lib/http.ts";
import { countBidding, countNewlyBlocked, countPairs, endpointsOf } from "./bids-of.ts";
import type { ImportReport } from "./import-answer.ts";
import type { ImportRun, Overwritten } from "./import-run.ts";
import { MAX_LISTED } from "./listed.ts";

/** Stopping one campaign, one publisher or one pair of them asks for no confirmation, however few there are. */
const MIN_STOPS = 2;

type Asked = { isDryRun: boolean; isConfirmed: boolean };

/**
 * @throws HttpError 409 where most of the campaigns or publishers, or of the pairs of them, would stop, or most campaigns bid more than twice
 * as much, and nobody has confirmed it
 */
export async function changesMost(run: ImportRun, importId: string, { isDryRun, isConfirmed }: Asked): Promise<boolean> {
	const { db, difference, owners } = run;
	const hasBlocks = run.publishers.some(({ entry }) => entry.blocked_brands.length > 0);
	if (hasBlocks) difference.blocked = await countNewlyBlocked(db, importId);
	const { stops, publisherStops, raised } = difference;
	if (Math.max(stops, publisherStops, difference.blocked, raised.campaigns, raised.publishers) < MIN_STOPS) return false;
	const campaigns = { stops, of: await countBidding(db) };
	const stored = [...(await owners.publishers()).values()];
	const publishers = { stops: publisherStops, of: stored.filter((publisher) => endpointsOf(publisher).length > 0).length };
	const blocked = { stops: difference.blocked, of: await countPairs(db) };
	const told = [
		...(isMostOf({ stops: raised.campaigns, of: campaigns.of })
			? [`${raised.campaigns} of ${campaigns.of} campaigns would bid more than twice as much`]
			: []),
		...(isMostOf({ stops: raised.publishers, of: publishers.of })
			? [`${raised.publishers} of ${publishers.of} publishers would be paid more than twice the share`]
			: []),
		...(isMostOf(campaigns) ? [`${stops} of ${campaigns.of} campaigns would bid no more`] : []),
		...(isMostOf(publishers) ? [`${publisherStops} of ${publishers.of} publishers would be bid for no more`] : []),
		...(isMostOf(blocked)
			? [`${blocked.stops} of ${blocked.of} pairs of a publisher and a campaign that bids for it would be blocked`]
			: []),
	];
	if (told.length === 0) return false;
	if (isDryRun || isConfirmed) return true;
	throw new HttpError(409, {
		error: "Confirmation needed",
		message: `${told.join(", and ")}: confirm it by yes=1 (--yes), or look at it by dry_run=1 (--dry-run)`,
		...campaigns,
		publishers,
		blocked,
		raised,
		difference: previewDifference(run),
	});
}

/** The difference of what is not done, without names that were made up for it: the import itself makes up others. */
export function previewDifference({ difference, issued }: ImportRun): ImportReport["difference"] {
	const madeUp = new Set<unknown>(issued.map(({ value }) => value));
	const answer = difference.answer();
	const entries = answer.entries.map((entry) => ({ ...entry, fields: entry.fields.filter(({ after }) => !madeUp.has(after)) }));
	return { ...answer, entries };
}

function isMostOf({ stops, of }: { stops: number; of: number }): boolean {
	return stops >= MIN_STOPS && stops * 2 > of;
}

export function overwrites(field: string): string {
	return `${field === "" ? "the entry" : field} was changed since, and that is overwritten`;
}

export function wouldOverwrite(overwritten: readonly Overwritten[], undoneBy: string | undefined): HttpError {
	const [first] = overwritten;
	const what = first === undefined ? "" : `: ${first.section} ${first.id}${first.field === "" ? "" : ` (${first.field})`}`;
	return new HttpError(409, {
		error: "Changed since",
		message: `${undoneBy === undefined ? "" : `Import ${undoneBy} has undone it already. `}${countedAs(overwritten.length, "field or entry has", "fields or entries have")} been changed since${what}: yes=1 (--yes) overwrites them`,
		overwritten: overwritten.slice(0, MAX_LISTED),
		overwritten_count: overwritten.length,
	});
}
