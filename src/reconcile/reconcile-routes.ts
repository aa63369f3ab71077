/** POST /operator/reconcile-sums: compares all counters with their rows, some days a request. */
import { Hono } from "hono";
import * as v from "valibot";
import { openDatabase } from "../db/client.ts";
import { wrapD1 } from "../db/wrap-d1.ts";
import { actorOf } from "../http/actor.ts";
import { NOT_IN_ORDER, day as utcDate } from "../http/datetime.ts";
import { invalidInput } from "../http/errors.ts";
import { MAX_WORK_MS } from "../http/limits.ts";
import { readBody } from "../http/read-input.ts";
import { jsonResponse } from "../lib/http.ts";
import { Operations } from "../lib/operations.ts";
import { DAY_MS, isUtcDay, utcDay } from "../lib/time.ts";
import type { Difference } from "./compare-sums.ts";
import { MAX_AHEAD_MS } from "./compare-sums.ts";
import { firstDay } from "./first-day.ts";
import { FIRST_PART, type Part, readPart, writePart } from "./parts.ts";
import type { ReconcileAnswer } from "./reconcile-answers.ts";
import { logDifferences, type ReconcileDeps, type Repair, reconcilePart, reconcileTotals } from "./reconcile-sums.ts";
import { showDifference } from "./show-difference.ts";

/** A request stops when any is reached, or its time is over: D1 stops a query, and an invocation's number of them, later. */
const MAX_DAYS = 30;
/**
 * Statements that have to be left to begin another part: sixteen of publishers with a repair, five times where other repairs come in between,
 * and as many of totals; of campaigns, four for each hundred thousand clicks of two days.
 */
const STATEMENTS_LEFT = 300;
const TOTALS_A_REQUEST = 500;
const MAX_SHOWN = 100;
/** Those of a request that are looked at again, to be shown and logged. */
const MAX_FOUND = 1_000;

/** The next day to compare and its part, or the campaign behind which totals are to be compared. */
const CURSOR = /^(?:day (\d{4}-\d{2}-\d{2})(?: (publishers .+|campaigns(?: \d{1,15})?))?|totals (\d{1,15}))$/s;

/** Where an answer said to go on; null where a text is no cursor. `day` is null once only totals are left. */
function readCursor(text: string): { day: string | null; part: Part; totalsAfter: number } | null {
	const [whole, day = null, part, totalsAfter = 0] = CURSOR.exec(text) ?? [];
	if (whole === undefined || (day !== null && !isUtcDay(day))) return null;
	return { day, part: (part !== undefined && readPart(part)) || FIRST_PART, totalsAfter: Number(totalsAfter) };
}

export const reconcileSchema = v.strictObject({
	from: v.optional(v.pipe(utcDate, v.description("The first day; without it the first there is."))),
	to: v.optional(v.pipe(utcDate, v.description("The last day, included; without it today."))),
	repair: v.optional(v.pipe(v.boolean("must be true or false"), v.description("Write the counters right.")), false),
	cursor: v.optional(
		v.pipe(
			v.string("must be a cursor"),
			v.check((text) => readCursor(text) !== null, "must be the next_cursor of an answer"),
		),
	),
});

type Asked = v.InferOutput<typeof reconcileSchema>;

export function reconcileRoutes(deps: ReconcileDeps): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const asked = await readBody(c.req.raw, reconcileSchema);
		if (asked.from !== undefined && asked.to !== undefined && asked.to < asked.from) {
			throw invalidInput([{ path: "to", message: NOT_IN_ORDER }]);
		}
		return jsonResponse(await reconcile(deps, asked, asked.repair && actorOf(c)));
	});
	return app;
}

async function reconcile({ db, now }: ReconcileDeps, asked: Asked, repair: Repair): Promise<ReconcileAnswer> {
	const operations = new Operations();
	const deps = { db: openDatabase(wrapD1(db.$client, ({ length }) => operations.countStatements(length))), now };
	const startedAt = now();
	const first = asked.from ?? (await firstDay(deps.db, startedAt));
	// Some campaigns' clocks are ahead of UTC.
	const last = asked.to ?? utcDay(startedAt + MAX_AHEAD_MS);
	const begin = asked.cursor === undefined ? null : readCursor(asked.cursor);
	const differences: Difference[] = [];
	let found = 0;
	const compared: string[] = [];
	const clicksGone = new Set<string>();
	let day = begin === null ? first : begin.day;
	let part = begin?.part ?? FIRST_PART;
	const hasRoom = () => compared.length < MAX_DAYS && now() - startedAt < MAX_WORK_MS && operations.has({ statements: STATEMENTS_LEFT });
	while (day !== null && day <= last && hasRoom()) {
		const result = await reconcilePart(deps, day, part, repair);
		differences.push(...result.differences.slice(0, MAX_FOUND - differences.length));
		found += result.differences.length;
		if (result.clicksGone) clicksGone.add(day);
		part = result.next ?? FIRST_PART;
		if (result.next !== null) continue;
		compared.push(day);
		// Not by the next one: a year of five digits stands before all others.
		day = day < last ? utcDay(Date.parse(day) + DAY_MS) : null;
	}
	const isOnDays = day !== null && day <= last;
	const totals = isOnDays ? null : await reconcileTotals(deps, begin?.totalsAfter ?? 0, TOTALS_A_REQUEST, repair);
	differences.push(...(totals?.differences ?? []));
	found += totals?.differences.length ?? 0;
	logDifferences(differences);
	const nextTotals = totals === null || totals.last === null ? null : `totals ${totals.last}`;
	return {
		days: compared.length,
		from: compared[0] ?? null,
		to: compared.at(-1) ?? null,
		of_days: Math.max(0, (Date.parse(last) - Date.parse(first)) / DAY_MS + 1),
		campaigns: totals?.campaigns ?? 0,
		clicks_gone: [...clicksGone],
		difference_count: found,
		differences: differences.slice(0, MAX_SHOWN).map(showDifference),
		repaired: asked.repair && found > 0,
		next_cursor: isOnDays ? cursorOf(day ?? "", part) : nextTotals,
	};
}

function cursorOf(day: string, part: Part): string {
	return part.of === "publishers" && part.after === "" ? `day ${day}` : `day ${day} ${writePart(part)}`;
}
