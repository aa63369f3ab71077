/** Writes a decided batch: its rows and all that counts them, in one transaction, or nothing where its facts have changed since. */
import { sql } from "drizzle-orm";
import { additionTo } from "../../db/add-up.ts";
import { type Database, runPartlyAhead, textOf } from "../../db/client.ts";
import { insertCells, writeCells } from "../../db/json-rows.ts";
import { isConstraintError, OvertakenError } from "../../db/overtaken.ts";
import { NUMBER, TAKE_NUMBER } from "../../db/report-sequence.ts";
import { clicks, paidNetworks, paidVisits, unpaidHours } from "../../db/schema/clicks.ts";
import { campaignDays, campaignRates, campaignTotals, dailyNetwork, dailyPublishers, dailySources } from "../../db/schema/counters.ts";
import { type LearnedClick, learnClicks, type PlacedSources } from "../../learning-rows/learn-clicks.ts";
import { visitOf } from "./batch-visits.ts";
import { CLICK_COLUMNS, readColumns } from "./click-columns.ts";
import type { ClickState, Decided, DecidedClick, PaidVisit } from "./click-state.ts";
import { turnOf } from "./turn.ts";

/**
 * ?1 is the version that the batch was decided on, ?5 to ?7 what it rests on. `touched` is null, which its column refuses, where that has
 * changed since: by a turn, or by something else that raised the version and so left no turn.
 */
const TAKE_TURN = textOf(sql`INSERT INTO click_turns (version, click_count, cost_micros, touched)
	WITH later AS MATERIALIZED (SELECT t.click_count, t.cost_micros, t.touched FROM click_turns t WHERE t.version > ?1),
	total AS MATERIALIZED (SELECT count(*) AS turns, coalesce(sum(l.click_count), 0) AS click_count,
		coalesce(sum(l.cost_micros), 0) AS cost_micros FROM later l)
	SELECT s.version + 1, CAST(?2 AS BIGINT), CAST(?3 AS BIGINT),
		CASE WHEN total.turns = s.version - ?1 AND total.click_count <= ?6 AND total.cost_micros <= ?7
			AND NOT EXISTS (SELECT 1 FROM later CROSS JOIN json_each(later.touched) name WHERE name.atom IN (SELECT atom FROM json_each(?5)))
			THEN CAST(?4 AS TEXT) END
	FROM click_sequence s CROSS JOIN total WHERE s.id = 1`);
const COUNT_TURN = textOf(sql`UPDATE click_sequence SET version = version + 1 WHERE id = 1`);
/** A batch that was decided on an earlier version than this is decided again. */
const KEPT_TURNS = 64;
/** Turns are forgotten by every so manieth. */
const TURNS_A_CLEANING = 32;
const FORGET_TURNS = textOf(sql`DELETE FROM click_turns WHERE version <= ?1`);

const TAKE_REPORT_NUMBER = textOf(TAKE_NUMBER);

const INSERT_CLICKS = textOf(insertCells(clicks, CLICK_COLUMNS, sql`?1`, sql``, { sequence: NUMBER }));

const VISIT = [
	"clickId",
	"publisherId",
	"connection",
	"userAgentHash",
	"brandId",
	"clickedAt",
] as const satisfies readonly (keyof PaidVisit)[];
const INSERT_VISITS = textOf(insertCells(paidVisits, VISIT, sql`?1`));

const REVENUE = ["clickCount", "clickRevenueMicros"] as const;
const SPEND = ["clickCount", "spendMicros", "grossMicros"] as const;

/** What a billed click adds to counters. */
function moveOf({ click, publisher, utcDay, localDay, rateSlot, sourceId, revenueMicros, bidMicros, grossMicros }: DecidedClick) {
	return {
		publisherId: publisher?.id ?? null,
		campaignId: click.campaignId,
		sourceId: sourceId ?? "",
		date: utcDay,
		day: localDay,
		slot: rateSlot,
		clickCount: 1,
		clickRevenueMicros: revenueMicros,
		spendMicros: bidMicros,
		grossMicros,
	};
}
type Move = ReturnType<typeof moveOf>;

const BY_PUBLISHER = [
	additionTo<Move>(dailyPublishers, ["publisherId", "date"], REVENUE),
	additionTo<Move>(dailySources, ["publisherId", "date", "sourceId"], REVENUE),
];
const HAS_TOTAL = sql`AND EXISTS (SELECT 1 FROM campaign_totals t WHERE t.campaign_id = CAST(value ->> 0 AS BIGINT))`;
const BY_CAMPAIGN = [
	additionTo<Move>(campaignDays, ["campaignId", "day"], SPEND),
	additionTo<Move>(campaignTotals, ["campaignId"], SPEND, HAS_TOTAL),
];
const BY_RATE = additionTo<Move>(campaignRates, ["campaignId", "slot"], SPEND);
/** What any stored click adds to the network's own sums. */
function networkMoveOf({ click, publisher, platform, reason, utcDay, revenueMicros, grossMicros }: DecidedClick) {
	return {
		date: utcDay,
		campaignId: click.campaignId,
		publisherId: publisher?.id ?? "",
		brandId: click.brandId,
		platform: platform ?? "",
		country: click.country ?? "",
		kind: click.kind,
		reason: reason ?? "",
		clickCount: 1,
		clickGrossMicros: reason === null ? grossMicros : 0,
		clickRevenueMicros: revenueMicros,
	};
}
const NETWORK = additionTo<ReturnType<typeof networkMoveOf>>(
	dailyNetwork,
	["date", "campaignId", "publisherId", "brandId", "platform", "country", "kind", "reason"],
	["clickCount", "clickGrossMicros", "clickRevenueMicros"],
);

/** A click of which anything is learned. */
function learnedClick({ click, publisher, campaign, revenueMicros, ...decided }: DecidedClick): LearnedClick[] {
	if (publisher === undefined || campaign === undefined) return [];
	const { campaignId, link, at } = click;
	const { sourceHash, keywordClass, grossMicros } = decided;
	return [{ campaignId, publisherId: publisher.id, sourceHash, keywordClass, link, clickedAt: at, grossMicros, paidMicros: revenueMicros }];
}

const NETWORKS = additionTo<Decided["networks"][number]>(paidNetworks, ["hour", "publisherId", "network"], ["clickCount"]);
const UNPAID = additionTo<Decided["unpaid"][number]>(unpaidHours, ["connection", "hour"], ["stored", "dropped"]);
const NEW_SOURCES = additionTo<Decided["newSources"][number]>(dailyPublishers, ["publisherId", "date"], ["sourceCount"]);

/**
 * @param state  what the batch was decided on
 * @param placed what is known of sources; what is new is added
 * @param then   a statement that reads what came of it, in the same transaction
 * @returns the rows of `then`
 * @throws OvertakenError where what the batch rests on has changed since; nothing is written then
 */
export async function writeClicks<Row>(
	db: Database,
	batch: Decided,
	state: ClickState,
	placed: PlacedSources,
	then: D1PreparedStatement | null,
): Promise<Row[]> {
	const client = db.$client;
	const { clicks: decided, networks, unpaid, newSources } = batch;
	const { version, isLearned } = state;
	const { touched, restsOn, paid, room } = turnOf(batch, state);
	const rests = [JSON.stringify(restsOn), room.clicks, room.micros];
	const statements = [
		client.prepare(TAKE_TURN).bind(version, paid.clicks, paid.micros, JSON.stringify(touched), ...rests),
		client.prepare(COUNT_TURN),
	];
	if (version % TURNS_A_CLEANING === 0) statements.push(client.prepare(FORGET_TURNS).bind(version - KEPT_TURNS));
	if (decided.length > 0) {
		statements.push(client.prepare(TAKE_REPORT_NUMBER));
		statements.push(client.prepare(INSERT_CLICKS).bind(JSON.stringify(decided.map(readColumns))));
	}
	const billed = decided.filter(({ reason }) => reason === null);
	const moves = billed.map(moveOf);
	const add = <Item>({ text, rowsOf }: { text: string; rowsOf: (items: readonly Item[]) => string | null }, items: readonly Item[]) => {
		const rows = rowsOf(items);
		if (rows !== null) statements.push(client.prepare(text).bind(rows));
	};
	const ofPublishers = moves.filter(({ publisherId }) => publisherId !== null);
	for (const addition of BY_PUBLISHER) add(addition, ofPublishers);
	for (const addition of BY_CAMPAIGN) add(addition, moves);
	add(NETWORK, decided.map(networkMoveOf));
	add(
		BY_RATE,
		moves.filter(({ slot }) => slot !== null),
	);
	add(NETWORKS, networks);
	add(UNPAID, unpaid);
	add(NEW_SOURCES, newSources);
	const learning = learnClicks(isLearned ? billed.flatMap(learnedClick) : [], placed);
	for (const { text, values } of learning.statements) statements.push(client.prepare(text).bind(...values));
	const visits = billed.map(({ click, publisher }) => visitOf(click, publisher)).filter((visit) => visit !== null);
	const ahead = visits.length === 0 ? [] : [client.prepare(INSERT_VISITS).bind(writeCells(VISIT, visits))];
	if (then !== null) statements.push(then);
	try {
		const results = await runPartlyAhead(client, ahead, statements);
		for (const [source, day] of learning.placed) placed.set(source, day);
		return then === null ? [] : ((results.at(-1)?.results ?? []) as Row[]);
	} catch (error) {
		if (isConstraintError(error)) throw new OvertakenError("what clicks were decided on has changed meanwhile", { cause: error });
		throw error;
	}
}
