/** What records of reports have of their click alone: what was passed through its link. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { TokenKind } from "../lib/enums.ts";

/** All null where the click is not stored. */
export type OfClick = {
	kind: TokenKind | null;
	uid: string | null;
	atag: string | null;
	subid1: string | null;
	subid2: string | null;
	subid3: string | null;
	subid4: string | null;
	subid5: string | null;
};

export const NO_CLICK: OfClick = {
	...{ kind: null, uid: null, atag: null },
	...{ subid1: null, subid2: null, subid3: null, subid4: null, subid5: null },
};

const NAMES = ["kind", "uid", "atag", "subid1", "subid2", "subid3", "subid4", "subid5"] as const satisfies (keyof OfClick)[];

/** Columns of {@link OfClick}, of the clicks `c`. */
export const OF_CLICK = sql.join(
	NAMES.map((name) => sql`c.${sql.identifier(name)} AS ${sql.identifier(name)}`),
	sql`, `,
);

/** The same of what has no click. */
export const OF_NO_CLICK = sql.join(
	NAMES.map((name) => sql`NULL AS ${sql.identifier(name)}`),
	sql`, `,
);

/** The clicks `c` of these ids: asked for by id, since they may be on other nodes than what they are joined to (decision 0034). */
export function clicksBy(ids: SQL): SQL {
	return sql`(SELECT id, ${sql.join(
		NAMES.map((name) => sql.identifier(name)),
		sql`, `,
	)} FROM clicks c WHERE c.id IN (${ids})) c`;
}

/** The same, of these clicks, by their ids: those that are stored. */
export async function readOfClicks(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, OfClick>> {
	if (ids.length === 0) return new Map();
	const rows = await db.all<OfClick & { id: string }>(sql`SELECT c.id AS id, ${OF_CLICK}
		FROM json_each(${JSON.stringify([...new Set(ids)])}) k CROSS JOIN clicks c WHERE c.id = k.atom`);
	return new Map(rows.map((row) => [row.id, row]));
}

/** Of OpenRTB bids alone, where it may be null. */
export const userIdOf = ({ kind, uid }: OfClick) => (kind === "openrtb" ? { user_id: uid } : {});

/** Of a marketplace's link. */
export const atagOf = ({ atag }: OfClick) => (atag === null ? {} : { atag });

export function subidsOf(row: OfClick) {
	return {
		subid1: row.subid1 ?? "",
		subid2: row.subid2 ?? "",
		subid3: row.subid3 ?? "",
		subid4: row.subid4 ?? "",
		subid5: row.subid5 ?? "",
	};
}
