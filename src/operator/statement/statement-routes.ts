/** /operator/reconcile: a platform's own statement, compared and applied; and those that were. */
import { sql } from "drizzle-orm";
import { Hono } from "hono";
import * as v from "valibot";
import type { SettleDeps } from "../../conversions/settle-postbacks.ts";
import type { Database } from "../../db/client.ts";
import { actorOf } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { cursorOf, cutPage } from "../../http/pages.ts";
import { flag, readInput, readQuery } from "../../http/read-input.ts";
import { nameOfAtMost } from "../../http/texts.ts";
import { DATE_ORDERS, STATEMENT_FIELDS } from "../../lib/enums.ts";
import { jsonResponse } from "../../lib/http.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import { pageLimit } from "../../lib/page-cursor.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { fromUtf8OrWindows1252 } from "../../lib/windows-1252.ts";
import { encodingOf } from "../feeds/decode-feed.ts";
import { reconcileStatement } from "./reconcile-statement.ts";
import type { DifferenceCounts, Statements } from "./statement-answers.ts";

const name = nameOfAtMost(255);
const columns = v.strictObject(v.entriesFromList(STATEMENT_FIELDS, v.optional(name)));

/** Closed: a misspelled `apply` would only report. */
const reconcileQuerySchema = v.strictObject({
	/** platforms.id. */
	platform: name,
	apply: flag,
	/** JSON: our fields, and the columns that they stand in. */
	mapping: v.optional(
		v.pipe(
			v.string(),
			v.transform((text) => parseJson(text)),
			v.check(isObject, `must be a JSON object of ${STATEMENT_FIELDS.join(", ")}, each a column's name`),
			columns,
		),
		"{}",
	),
	/** How dates with slashes are written, where the layout does not tell. */
	date_order: v.optional(v.picklist(DATE_ORDERS, `must be ${DATE_ORDERS.join(" or ")}`)),
});

const listSchema = v.strictObject({
	platform: v.optional(name),
	limit: pageLimit,
	cursor: cursorOf(v.tuple([v.pipe(v.number(), v.safeInteger()), v.string()])),
});

export function statementRoutes(deps: SettleDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listStatements(deps.db, readQuery(listSchema, c.req.query()))));
	app.post("/", async (c) => {
		const { platform, apply, mapping, date_order } = readInput(reconcileQuerySchema, c.req.query());
		const text = await readText(c.req.raw);
		if (text.includes("\u0000")) throw invalidInput([{ path: "", message: "is no CSV" }]);
		const request = { platform, text, mapping, dateOrder: date_order ?? null, apply };
		return jsonResponse(await reconcileStatement(deps, actorOf(c), request));
	});
	return app;
}

/** By U+FFFD for what is no UTF-8, two transactions would be one. */
async function readText(request: Request): Promise<string> {
	const bytes = new Uint8Array(await request.arrayBuffer());
	const encoding = encodingOf(bytes);
	return encoding === "utf-8" ? fromUtf8OrWindows1252(bytes) : new TextDecoder(encoding).decode(bytes);
}

type Row = {
	platform: string;
	hash: string;
	at: number;
	actor: string;
	layout: string;
	rowCount: number;
	appliedCount: number;
	completedAt: number | null;
	report: string;
};

/** Statements that were applied, the newest first. */
async function listStatements(db: Database, { platform, limit, cursor }: v.InferOutput<typeof listSchema>): Promise<Statements> {
	const rows = await db.all<Row>(sql`SELECT platform, hash, at, actor, layout, row_count AS "rowCount", applied_count AS "appliedCount",
			completed_at AS "completedAt", report
		FROM statements WHERE ${platform === undefined ? sql`true` : sql`platform = ${platform}`}
			AND ${cursor === undefined ? sql`true` : sql`(at, hash) < (${cursor[0]}, ${cursor[1]})`}
		ORDER BY at DESC, hash DESC, platform LIMIT ${limit + 1}`);
	const { shown, next } = cutPage(rows, limit, ({ at, hash }) => [at, hash]);
	return {
		data: shown.map(({ platform, hash, at, actor, layout, rowCount, appliedCount, completedAt, report }) => ({
			...{ platform, hash, actor, layout },
			at: isoTime(at),
			rows: rowCount,
			applied: appliedCount,
			applied_at: isoTimeOrNull(completedAt),
			counts: JSON.parse(report) as DifferenceCounts,
		})),
		limit,
		next_cursor: next,
	};
}
