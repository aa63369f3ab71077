/** Reads all that deciding a batch of clicks rests on, at one moment. */
import { type Database, readByKeys } from "../../db/client.ts";
import { writeCells } from "../../db/json-rows.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { ClickMessage } from "../message.ts";
import { arrangeClickState } from "./arrange-click-state.ts";
import {
	brandStops,
	campaignDaysOf,
	connectionHoursOf,
	connectionTimesOf,
	covers,
	networkHoursOf,
	sourcesOf,
	stopOwners,
} from "./asked-of-clicks.ts";
import type { ClickState } from "./click-state.ts";
import type { KnownFacts } from "./kept-facts.ts";
import {
	BRAND_STOP,
	CAMPAIGN_DAYS,
	CONNECTION_HOUR,
	CONNECTION_TIMES,
	NETWORK_HOUR,
	SELECT_KNOWN,
	SELECT_NETWORKS,
	SELECT_SOURCES,
	SELECT_SPENT,
	SELECT_STOPS,
	SELECT_UNPAID,
	SELECT_VISITS,
	SOURCE,
	STOP_OWNER,
} from "./select-click-state.ts";

/**
 * A bid is paid for a week at most (`bid_pay_minutes`), so what a hash was billed for is no older. Hashes are thus looked for in the newest
 * partitions alone, where clicks are partitioned.
 */
const BILLED_WITHIN_MS = 8 * DAY_MS;

/** @param known is whole afterwards: what it still asks is asked in the same round trip */
export async function readClickState(db: Database, clicks: readonly ClickMessage[], { facts, questions }: KnownFacts): Promise<ClickState> {
	const open = clicks.filter(({ reason }) => reason === undefined);
	const ids = JSON.stringify(clicks.map(({ id }) => id));
	const hashes = JSON.stringify(open.map(({ hash }) => hash));
	const oldest = clicks.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY);
	const statements = [db.$client.prepare(SELECT_KNOWN).bind(ids, hashes, leastIdAt(oldest - BILLED_WITHIN_MS))];
	/** A question that the batch does not ask costs no statement. Returns where its rows will stand. */
	const ask = (text: string, ...lists: readonly string[]): number => {
		if (lists.every((list) => list === "[]")) return Number.NaN;
		return statements.push(db.$client.prepare(text).bind(...lists)) - 1;
	};
	const connectionTimes = connectionTimesOf(open, facts);
	const spentAt = ask(SELECT_SPENT, writeCells(CAMPAIGN_DAYS, campaignDaysOf(open, facts)));
	const visitsAt = ask(SELECT_VISITS, writeCells(CONNECTION_TIMES, [...connectionTimes.values()]));
	const networksAt = ask(SELECT_NETWORKS, writeCells(NETWORK_HOUR, networkHoursOf(open, facts)));
	const unpaidAt = ask(SELECT_UNPAID, writeCells(CONNECTION_HOUR, connectionHoursOf(clicks)));
	const sourcesAt = ask(SELECT_SOURCES, writeCells(SOURCE, sourcesOf(open, facts)));
	const stopsAt = ask(SELECT_STOPS, writeCells(STOP_OWNER, stopOwners(open, facts)), writeCells(BRAND_STOP, brandStops(open, facts)));
	for (const { text, value } of questions) statements.push(db.$client.prepare(text).bind(value));
	const results = await readByKeys(db.$client, statements);
	const firstAnswer = results.length - questions.length;
	for (const [at, { take }] of questions.entries()) take(results[firstAnswer + at]?.results ?? []);
	// A campaign that was not known then may look further around its clicks.
	if (questions.length > 0 && !covers(connectionTimes, connectionTimesOf(open, facts)))
		return readClickState(db, clicks, { facts, questions: [] });
	const rows = <Row>(at: number) => (results[at]?.results ?? []) as Row[];
	return arrangeClickState(
		{
			known: rows(0),
			spent: rows(spentAt),
			visits: rows(visitsAt),
			networks: rows(networksAt),
			unpaid: rows(unpaidAt),
			sources: rows(sourcesAt),
			stops: rows(stopsAt),
		},
		[...connectionTimes.values()],
		facts,
	);
}
