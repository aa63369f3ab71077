/** What arrived and needs a person, by platform and cause; a bounded number of rows of each kind is looked at, the newest. */
import { type SQL, sql } from "drizzle-orm";
import { asClickHash } from "../../conversions/match-click.ts";
import { explainUncounted } from "../../conversions/show-history.ts";
import type { Database } from "../../db/client.ts";
import { cutPage } from "../../http/pages.ts";
import type { ConversionHold, ConversionStatus, UnsettledStage } from "../../lib/enums.ts";
import { leastIdAt } from "../../lib/ids.ts";
import { isPlaceholder } from "../../lib/placeholder.ts";
import { DAY_MS, isoTime } from "../../lib/time.ts";
import { type Cause, classifyRefused, type Refused } from "./classify.ts";
import { fixOf } from "./fix.ts";
import { networkOf } from "./network-macros.ts";
import type { Problem, Problems } from "./problems-answers.ts";
import { openRefused } from "./refused-rows.ts";

export type ProblemsDeps = {
	db: Database;
	now: () => number;
	/** How long clicks are kept. */
	clickDays: number;
};
export type ProblemsQuery = {
	platform?: string | undefined;
	fromAt: number;
	/** Groups of a page. */
	limit: number;
	/** The group that the page before ended with; null for the first page. */
	after: ProblemKey | null;
};
/** What a group is sorted by: how often, then since when, then what of. */
type ProblemKey = readonly [count: number, since: string, group: string];

/** Refused postbacks that are looked at, of each platform and of unknown keys. */
const MAX_REFUSED = 500;
/** The same of all platforms together, however many there are. */
const MAX_REFUSED_OF_ALL = 5_000;
/** Conversions that are looked at: without a click, quarantined, of an unknown status. */
const MAX_CONVERSIONS = 1_000;
const MAX_EXAMPLES = 3;
/** Characters of a query, and of a word, that are shown. */
const MAX_QUERY = 2_000;
const MAX_SENT = 100;

type Found = Cause & { platform: string | null; at: number; txnid: string | null; requestId: string | null; query: string | null } & {
	/** Of a refused one: its fields that came under other names. */
	misnamed?: readonly Cause[];
};
type RefusedRow = Refused & { id: string; at: number; platform: string | null; txnid: string | null };
type OpenRow = {
	platform: string;
	txnid: string;
	cid: string;
	at: number;
	eventAt: number;
	stage: string;
	heldFor: ConversionHold | null;
	currency: string;
	networkStatus: string | null;
	lastIntakeId: string;
	status: ConversionStatus;
};

export async function readProblems(deps: ProblemsDeps, query: ProblemsQuery): Promise<Problems> {
	const { db } = deps;
	const [platforms, refused, open, unknown] = await Promise.all([
		db.all<{ id: string; name: string }>(sql`SELECT id, name FROM platforms`),
		readRefused(db, query),
		readOpen(deps, query),
		readUnknownStatuses(db, query),
	]);
	const networks = new Map(platforms.map((platform) => [platform.id, networkOf(platform)]));
	const groups = Map.groupBy([...refused.found, ...open.found, ...unknown.found], ({ platform, cause, field, sent }) =>
		JSON.stringify([platform, cause, field, isNamed(cause) ? sent : null]),
	);
	const sorted = [...groups]
		.map(([group, found]) => {
			const problem = describe(found, (id) => (id === null ? null : (networks.get(id) ?? null)));
			return { problem, key: [problem.count, problem.since, group] as ProblemKey };
		})
		.sort((a, b) => compareKeys(a.key, b.key));
	const { after, limit } = query;
	const behind = after === null ? sorted : sorted.filter(({ key }) => compareKeys(key, after) > 0);
	const { shown, next } = cutPage(behind, limit, ({ key }) => key);
	const complete = [refused, open, unknown].every(({ isCut }) => !isCut);
	return { data: shown.map(({ problem }) => problem), limit, next_cursor: next, complete };
}

/** The most frequent first; of equal ones the oldest. */
function compareKeys([count, since, group]: ProblemKey, [otherCount, otherSince, otherGroup]: ProblemKey): number {
	if (count !== otherCount) return otherCount - count;
	if (since !== otherSince) return since < otherSince ? -1 : 1;
	return group === otherGroup ? 0 : group < otherGroup ? -1 : 1;
}

/** Causes of which each word, placeholder or currency is a problem of its own. */
function isNamed(cause: Cause["cause"]): boolean {
	return ["placeholder", "misnamed", "unknown_status", "no_rate", "unknown_currency"].includes(cause);
}

function describe(found: readonly Found[], networkOf: (platform: string | null) => Parameters<typeof fixOf>[1]["network"]): Problem {
	const newest = found.toSorted((a, b) => b.at - a.at);
	const [one] = newest;
	if (one === undefined) throw new Error("a problem is of something");
	const { platform, cause, field, sent } = one;
	return {
		platform,
		cause,
		field,
		sent,
		count: found.length,
		since: isoTime(newest.at(-1)?.at ?? one.at),
		newest_at: isoTime(one.at),
		examples: newest
			.slice(0, MAX_EXAMPLES)
			.map(({ requestId, txnid, at, query }) => ({ request_id: requestId, txnid, at: isoTime(at), query })),
		fix: fixOf(one, { platform, network: networkOf(platform), misnamed: one.misnamed }),
	};
}

type Looked = { found: Found[]; isCut: boolean };

async function readRefused(db: Database, { platform, fromAt }: ProblemsQuery): Promise<Looked> {
	const columns = sql`i.id, i.received_at AS at, i.platform, i.outcome, i.answer, substr(i.query, 1, ${MAX_QUERY}) AS query, i.txnid`;
	const from = leastIdAt(fromAt);
	const isPlatform = platform === undefined ? sql`true` : sql`p.id = ${platform}`;
	const [ofPlatforms, ofNobody, cut] = await Promise.all([
		db.all<RefusedRow>(
			sql`SELECT ${columns} FROM ${openRefused(fromAt, isPlatform, MAX_REFUSED)} ORDER BY i.id DESC LIMIT ${MAX_REFUSED_OF_ALL}`,
		),
		platform === undefined
			? db.all<RefusedRow>(sql`SELECT ${columns} FROM postback_intake i
				WHERE i.outcome <> 'accepted' AND i.platform IS NULL AND i.id >= ${from} ORDER BY i.id DESC LIMIT ${MAX_REFUSED}`)
			: [],
		db.all(sql`SELECT p.id FROM platforms p WHERE EXISTS (SELECT 1 FROM postback_intake r
			WHERE r.outcome <> 'accepted' AND r.platform = p.id AND r.id >= ${from} ORDER BY r.id DESC LIMIT 1 OFFSET ${MAX_REFUSED})`),
	]);
	const found = [...ofPlatforms, ...ofNobody].flatMap((row) => {
		const { id: requestId, at, txnid, query } = row;
		const causes = classifyRefused(row).map(({ sent, ...cause }): Cause => ({ ...cause, sent: shorten(sent) }));
		const misnamed = causes.filter(({ cause }) => cause === "misnamed");
		return causes.map((cause): Found => ({ ...cause, platform: row.platform, at, txnid, requestId, query, misnamed }));
	});
	return { found, isCut: cut.length > 0 || ofPlatforms.length === MAX_REFUSED_OF_ALL || ofNobody.length === MAX_REFUSED };
}

/** Conversions without a click, but for those that only wait for it, and quarantined ones; those that are cancelled need nobody. */
async function readOpen({ db, now, clickDays }: ProblemsDeps, { platform, fromAt }: ProblemsQuery): Promise<Looked> {
	const ofStage = (stage: UnsettledStage) =>
		db.all<OpenRow>(sql`SELECT platform, txnid, cid, first_received_at AS at, event_at AS "eventAt", stage, held_for AS "heldFor", currency,
				network_status AS "networkStatus", last_intake_id AS "lastIntakeId", status
			FROM conversions WHERE stage <> 'settled' AND stage = ${stage} AND first_received_at >= ${fromAt}
				AND ${platform === undefined ? sql`true` : sql`platform = ${platform}`}
			ORDER BY first_received_at DESC, platform DESC, txnid DESC LIMIT ${MAX_CONVERSIONS}`);
	const looked = await Promise.all([ofStage("waiting"), ofStage("unmatched"), ofStage("quarantined")]);
	const [waiting = [], unmatched = [], quarantined = []] = looked.map((rows) => rows.filter(({ status }) => status !== "cancelled"));
	const clickless = [...waiting, ...unmatched];
	const whyOf = await explainUncounted(
		db,
		clickless.map((row) => ({ ...row, click_id: null, held_for: null })),
	);
	const known = await readKnownCurrencies(db, quarantined);
	const keptFrom = now() - clickDays * DAY_MS;
	const found = [
		...clickless.flatMap((row) => {
			const why = whyOf({ ...row, click_id: null, held_for: null });
			if (why === null || (why === "no_click" && row.stage === "waiting")) return [];
			if (why !== "no_click") return [toFound(row, { cause: why, field: "cid", sent: null })];
			if (asClickHash(row.cid) === null) return [toFound(row, { cause: "click_id_form", field: "cid", sent: shorten(row.cid) })];
			return [toFound(row, { cause: row.eventAt < keptFrom ? "older_than_retention" : "no_click", field: "cid", sent: null })];
		}),
		...quarantined.map((row) => {
			const { heldFor, currency } = row;
			if (heldFor !== null && heldFor !== "no_rate") return toFound(row, { cause: heldFor, field: null, sent: null });
			return toFound(row, { cause: known.has(currency) ? "no_rate" : "unknown_currency", field: "currency", sent: shorten(currency) });
		}),
	];
	return { found, isCut: looked.some(({ length }) => length === MAX_CONVERSIONS) };
}

async function readUnknownStatuses(db: Database, query: ProblemsQuery): Promise<Looked> {
	const rows = await db.all<OpenRow>(unknownStatusQuery(query));
	const found = rows.map((row) => {
		const word = row.networkStatus ?? "";
		return toFound(row, { cause: isPlaceholder(word) ? "placeholder" : "unknown_status", field: "status", sent: shorten(word) });
	});
	return { found, isCut: rows.length === MAX_CONVERSIONS };
}

/** For its query plan, too: SQLite would go through all conversions of the platform. */
export function unknownStatusQuery({ platform, fromAt }: Pick<ProblemsQuery, "platform" | "fromAt">): SQL {
	return sql`SELECT platform, txnid, cid, updated_at AS at, event_at AS "eventAt", stage, held_for AS "heldFor", currency,
			network_status AS "networkStatus", last_intake_id AS "lastIntakeId"
		FROM conversions WHERE status_unknown = 1 AND status = 'pending' AND updated_at >= ${fromAt}
			AND ${platform === undefined ? sql`true` : sql`platform || '' = ${platform}`}
		ORDER BY updated_at DESC, platform DESC, txnid DESC LIMIT ${MAX_CONVERSIONS}`;
}

function toFound({ platform, txnid, at, lastIntakeId }: OpenRow, cause: Cause): Found {
	return { ...cause, platform, txnid, at, requestId: lastIntakeId === "" ? null : lastIntakeId, query: null };
}

/** Those of ISO 4217, and those of which any day has a rate. */
async function readKnownCurrencies(db: Database, rows: readonly OpenRow[]): Promise<ReadonlySet<string>> {
	const currencies = JSON.stringify([...new Set(rows.map(({ currency }) => currency))]);
	const known = await db.all<{ currency: string }>(sql`SELECT j.atom AS currency FROM json_each(${currencies}) j
		WHERE EXISTS (SELECT 1 FROM exchange_rates r WHERE r.id >= j.atom || ' ' AND r.id < j.atom || '!')`);
	return new Set([...Intl.supportedValuesOf("currency"), ...known.map(({ currency }) => currency)]);
}

function shorten(text: string | null): string | null {
	return text === null ? null : text.slice(0, MAX_SENT).toWellFormed();
}
