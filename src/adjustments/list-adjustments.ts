import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import { formatUsd } from "../lib/money.ts";
import { OPERATOR_CURSOR } from "../lib/page-cursor.ts";
import { isoTime } from "../lib/time.ts";
import type { AdjustmentPage, ListedAdjustment } from "./adjustment-answer.ts";
import type { ListQuery } from "./adjustment-request.ts";
import type { Adjustment } from "./adjustment-rows.ts";

type Row = Pick<Adjustment, "id" | "kind" | "actor" | "at" | "text" | "request" | "cursor" | "clicks" | "conversions"> & {
	publisherRevenueMicros: number;
	grossRevenueMicros: number;
	undoneBy: string | null;
};

/** A page of adjustments, the newest first. */
export async function listAdjustments(db: Database, { kind, from, to, limit, cursor }: ListQuery): Promise<AdjustmentPage> {
	const after = OPERATOR_CURSOR.read(cursor);
	const beyond = after === null ? sql`true` : sql`(a.at, a.id) < (${after.at}, ${after.id})`;
	const isSought = sql`${kind === undefined ? sql`true` : sql`a.kind = ${kind}`}
		AND ${from === undefined ? sql`true` : sql`a.at >= ${from}`} AND ${to === undefined ? sql`true` : sql`a.at < ${to}`}`;
	const rows = await db.all<Row>(sql`SELECT a.id, a.kind, a.actor, a.at, a.text, a.request, a.cursor, a.clicks, a.conversions,
			a.publisher_revenue_micros AS "publisherRevenueMicros", a.gross_revenue_micros AS "grossRevenueMicros",
			(SELECT u.id FROM adjustments u WHERE u.undoes = a.id) AS "undoneBy"
		FROM adjustments a WHERE ${beyond} AND ${isSought} ORDER BY a.at DESC, a.id DESC LIMIT ${limit + 1}`);
	const page = rows.slice(0, limit);
	const last = page.at(-1);
	return {
		data: page.map(present),
		limit,
		next_cursor: rows.length > page.length && last !== undefined ? OPERATOR_CURSOR.write(last) : null,
	};
}

function present(row: Row): ListedAdjustment {
	return {
		id: row.id,
		kind: row.kind,
		clicks: row.clicks,
		conversions: row.conversions,
		publisher_revenue: formatUsd(row.publisherRevenueMicros),
		gross_revenue: formatUsd(row.grossRevenueMicros),
		complete: row.cursor === null,
		actor: row.actor,
		at: isoTime(row.at),
		text: row.text,
		request: JSON.parse(row.request) as Record<string, unknown>,
		undone_by: row.undoneBy,
	};
}
