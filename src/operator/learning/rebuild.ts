/** POST /operator/learning/rebuild: what prices are learned from is made again from the ledger, week by week. */
import { auditStatement } from "../../audit/audit-statement.ts";
import { runTransaction } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { MAX_WORK_MS } from "../../http/limits.ts";
import { WEEK_DAYS, weekOf } from "../../learning/fold.ts";
import { HISTORY_DAYS } from "../../learning/settings.ts";
import { isThinned, rebuildWeek } from "../../learning-rows/rebuild.ts";
import { DAY_MS, utcDay } from "../../lib/time.ts";
import type { ImportDeps } from "../network/import-network.ts";
import type { LearningRebuilt } from "./learning-answers.ts";
import type { RebuildRequest } from "./learning-requests.ts";

/** Rebuilds from the oldest week that is learned from, or goes on where a request has ended. */
export async function rebuildLearning(
	{ db, now }: Pick<ImportDeps, "db" | "now">,
	{ cursor }: RebuildRequest,
	actor: Actor,
): Promise<LearningRebuilt> {
	const startedAt = now();
	const today = Math.floor(startedAt / DAY_MS);
	const asked = cursor === undefined ? 0 : Math.floor(Date.parse(cursor) / DAY_MS);
	if (!(asked <= today)) throw invalidInput([{ path: "cursor", message: "must be the next_cursor of an answer: no day to come" }]);
	const first = weekOf(Math.max(asked, today - HISTORY_DAYS));
	const subjectId = utcDay(first * DAY_MS);
	const audited = auditStatement(actor, startedAt, { verb: "rebuildLearning", subjectKind: "week", subjectId });
	await runTransaction(db, [audited]);
	let week = first;
	let left = 0;
	do {
		// What was summed up as it came is more than what is left to be summed up.
		if (await isThinned(db, week)) left++;
		else await rebuildWeek(db, week);
		week += WEEK_DAYS;
	} while (week <= today && now() - startedAt < MAX_WORK_MS);
	return {
		weeks: (week - first) / WEEK_DAYS - left,
		weeks_left: left,
		from: subjectId,
		next_cursor: week <= today ? utcDay(week * DAY_MS) : null,
	};
}
