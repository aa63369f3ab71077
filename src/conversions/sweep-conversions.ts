/** What the passing of time brings: clicks that came late, waits that are over, rates that were imported, publishers that are active again. */
import { and, asc, isNotNull, lte, notInArray, type SQL, sql } from "drizzle-orm";
import { conversions } from "../db/schema/conversions.ts";
import { isAwayError } from "../lib/away.ts";
import { crowding } from "../lib/crowding.ts";
import { logError, logInfo } from "../lib/log.ts";
import { type ConversionKey, keyOf } from "./conversion.ts";
import type { PostbackItem } from "./message.ts";
import { type SettleDeps, settleApart } from "./settle-postbacks.ts";

const AT_ONCE = 100;
/** Most conversions a sweep takes of each kind; the next one, a minute later, continues. An invocation has 1,000 queries for all its jobs. */
const MAX_SWEPT = 1_000;
/** As many of one platform are not few. */
const MANY = MAX_SWEPT / 50;
/** How often the others' are looked for: they may be behind those of more. */
const ROUNDS = 3;

/** Looks again at every conversion without a click whose time has come, and at every quarantined one whose rate is known, or whose publisher is active. */
export async function sweepConversions(deps: SettleDeps, mayGoOn = () => true): Promise<void> {
	const keys = [...(await readDue(deps)), ...(await readReleased(deps)), ...(await readReactivated(deps))];
	let changed = 0;
	let start = 0;
	for (; start < keys.length && mayGoOn(); start += AT_ONCE) {
		const items = keys.slice(start, start + AT_ONCE).map((key): PostbackItem => ({ format: 1, kind: "look_again", ...key }));
		changed += (await settleApart(deps, items, tellFailure)).changed;
	}
	if (keys.length > 0) logInfo("conversions.swept", { looked_at: Math.min(start, keys.length), changed });
}

/** One that cannot be settled must not hold up the others, now or with every sweep to come. @throws where the database is away */
function tellFailure(_: readonly PostbackItem[], error: unknown): void {
	if (isAwayError(error)) throw error;
	logError("conversions.not_settled", error);
}

/** Where some platforms have many of the oldest, more of the others' come before: they may report any number of unknown clicks. */
async function readDue(deps: SettleDeps): Promise<ConversionKey[]> {
	const without: string[] = [];
	let due: ConversionKey[] = [];
	let most = MAX_SWEPT;
	for (let round = 0; round < ROUNDS; round++) {
		const oldest = await readOldestDue(deps, without, most);
		const isTaken = new Set(oldest.map(keyOf));
		due = [...oldest, ...due.filter((key) => !isTaken.has(keyOf(key)))];
		const many = oldest.length < most ? [] : crowding(oldest, ({ platform }) => platform, MANY);
		if (many.length === 0) break;
		without.push(...many);
		most = MAX_SWEPT / 2;
	}
	return due;
}

/** @param without platforms whose are left out */
function readOldestDue({ db, now }: SettleDeps, without: readonly string[], limit: number): Promise<ConversionKey[]> {
	return db
		.select({ platform: conversions.platform, txnid: conversions.txnid })
		.from(conversions)
		.where(and(isNotNull(conversions.retryAt), lte(conversions.retryAt, now()), notInArray(conversions.platform, [...without])))
		.orderBy(asc(conversions.retryAt), asc(conversions.platform), asc(conversions.txnid))
		.limit(limit);
}

function readReleased({ db }: SettleDeps): Promise<ConversionKey[]> {
	return db.all<ConversionKey>(WITH_RATE_BY_NOW);
}

function withRateByNow(hold: SQL): SQL {
	return sql`SELECT platform, txnid FROM conversions v WHERE stage = 'quarantined' AND ${hold} AND usd_nanos IS NULL
		AND EXISTS (SELECT 1 FROM exchange_rates r WHERE r.id = v.currency || ' ' || date(event_at / 1000, 'unixepoch'))`;
}

/** For its query plan, too. Earlier versions did not note what they held a conversion for. */
export const WITH_RATE_BY_NOW = sql`${withRateByNow(sql`held_for = 'no_rate'`)} UNION ALL ${withRateByNow(sql`held_for IS NULL`)}
	LIMIT ${MAX_SWEPT}`;

function readReactivated({ db }: SettleDeps): Promise<ConversionKey[]> {
	return db.all<ConversionKey>(sql`SELECT platform, txnid FROM conversions
		WHERE stage = 'quarantined' AND held_for = 'publisher_suspended' AND publisher_id IN (SELECT id FROM publishers WHERE status = 'active')
		LIMIT ${MAX_SWEPT}`);
}
