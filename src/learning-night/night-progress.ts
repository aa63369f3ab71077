/** How far a night is, and what it goes on with where it was cut off. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import type { Break } from "../learning/breaks.ts";
import type { PlatformCurves } from "../learning/delay-curve.ts";
import { noReversals } from "../learning/reversals.ts";
import { pairKey, Traffic, type TrafficKind, USUAL_STANDING } from "../learning/traffic.ts";
import { splitByBytes } from "../lib/split-by-bytes.ts";
import { partName, readFollowed } from "./followed-sources.ts";

/** In order; `round` several times. */
type NightStep = "payouts" | "reversals" | "round" | "breaks" | "close" | "creep" | "traffic" | "done";

/** `learning_nights.progress`. */
export type Progress = {
	step: NightStep;
	/** Of ROUNDS, and as many again where something broke. */
	round: number;
	/** The last campaign of this step. */
	after: number;
	usualMicros: number | null;
	loading: number;
	/** By platform. */
	curves: Record<string, PlatformCurves>;
	/** Found this night, by campaign. */
	breaks: Record<string, Break>;
};

export type Night = { day: number; startedAt: number; finishedAt: number | null; progress: Progress; fault: Fault | null };

/** `learning_nights.fault`. */
type Fault = { at: number; message: string };

const FIRST: Progress = { step: "payouts", round: 0, after: 0, usualMicros: null, loading: 0, curves: {}, breaks: {} };

/** The night of a day, begun where it was not. */
export async function openNight(db: Database, day: number, now: number): Promise<Night> {
	const known = await readNight(db, day);
	if (known !== null) return known;
	await db.run(sql`INSERT INTO learning_nights (day, started_at, progress) VALUES (${day}, ${now}, ${JSON.stringify(FIRST)})
		ON CONFLICT (day) DO NOTHING`);
	return { day, startedAt: now, finishedAt: null, progress: FIRST, fault: null };
}

async function readNight(db: Database, day: number): Promise<Night | null> {
	type Row = Omit<Night, "progress" | "fault"> & { progress: string; fault: string | null };
	const [row] = await db.all<Row>(sql`SELECT day, started_at AS "startedAt", finished_at AS "finishedAt", progress, fault
		FROM learning_nights WHERE day = ${day}`);
	if (row === undefined) return null;
	const { progress, fault, ...night } = row;
	return { ...night, progress: JSON.parse(progress) as Progress, fault: fault === null ? null : (JSON.parse(fault) as Fault) };
}

/** Without the character that parts the names in a key: PostgreSQL takes none such. */
type StoredKind = Omit<TrafficKind, "sourceKey" | Newer> & Partial<Pick<TrafficKind, Newer>> & { source: string };
/** What kinds of earlier versions do not have. */
type Newer = "reversals" | "standing";

function storeKind({ sourceKey, ...kind }: TrafficKind): StoredKind {
	return { ...kind, source: sourceKey.slice(kind.publisher.length + 1) };
}

/** The parts of `learning_work` that traffic is kept in, by name. */
export type KeptParts = ReadonlyMap<string, string>;

/** What traffic had said of a night by the time it was cut off, and the parts that it was read of. */
export async function readTraffic(db: Database): Promise<{ traffic: Traffic; kept: KeptParts }> {
	const parts = await db.all<{ name: string; value: string }>(
		sql`SELECT name, value FROM learning_work WHERE name LIKE 'traffic %' ORDER BY name`,
	);
	const kinds = parts.flatMap(({ value }) => JSON.parse(value) as StoredKind[]);
	const placed = kinds.map(({ source, reversals = noReversals(), standing = USUAL_STANDING, ...kind }) => {
		return { ...kind, reversals, standing, sourceKey: pairKey(kind.publisher, source) };
	});
	const traffic = new Traffic(placed, await readFollowed(db));
	return { traffic, kept: new Map(parts.map(({ name, value }) => [name, value])) };
}

/**
 * Keeps how far a night is.
 * @param traffic what it goes on with; null where it is done
 * @param kept    parts that are there already: only those that differ are written
 */
export async function saveNight(
	db: Database,
	day: number,
	progress: Progress,
	traffic: Traffic | null,
	kept: KeptParts,
	then: readonly SQL[] = [],
): Promise<void> {
	const parts = splitByBytes(traffic === null ? [] : [...traffic.kinds].map(storeKind)).map((kinds, at) => {
		return { name: partName("traffic", at), value: JSON.stringify(kinds) };
	});
	const names = JSON.stringify(parts.map(({ name }) => name));
	await runTransaction(db, [
		sql`DELETE FROM learning_work WHERE name LIKE 'traffic %' AND name NOT IN (SELECT atom FROM json_each(${names}))`,
		...parts
			.filter(({ name, value }) => kept.get(name) !== value)
			.map(
				({ name, value }) =>
					sql`INSERT INTO learning_work (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
			),
		sql`UPDATE learning_nights SET progress = ${JSON.stringify(progress)}, fault = NULL WHERE day = ${day}`,
		...then,
	]);
}
