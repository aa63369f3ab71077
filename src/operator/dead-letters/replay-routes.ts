/** GET /operator/replay shows dead letters, POST /operator/replay sends them to their queue again. */
import { Hono } from "hono";
import * as v from "valibot";
import { actorOf } from "../../http/actor.ts";
import { instant } from "../../http/datetime.ts";
import { readBody, readDryRun, readQuery } from "../../http/read-input.ts";
import { QUEUE_NAMES } from "../../lib/enums.ts";
import { jsonResponse } from "../../lib/http.ts";
import { isoTime } from "../../lib/time.ts";
import type { DeadLetters, Replayed } from "./replay-answers.ts";
import { listDeadLetters, type ReplayDeps, replayDeadLetters } from "./replay-dead-letters.ts";

export const queueSchema = v.picklist(QUEUE_NAMES, `must be one of ${QUEUE_NAMES.join(", ")}`);
export const replaySchema = v.strictObject({
	queue: v.optional(queueSchema),
	/** Only dead letters received up to then; a caller that asks again for the rest repeats the first time it was given. */
	until: v.optional(instant),
	dry_run: v.optional(v.boolean("must be true or false"), false),
});
const listSchema = v.strictObject({
	queue: v.optional(queueSchema),
	limit: v.optional(
		v.pipe(
			v.string(),
			v.regex(/^\d{1,4}$/, "must be a whole number"),
			v.transform(Number),
			v.minValue(1, "must be at least 1"),
			v.maxValue(1_000, "must be at most 1000"),
		),
		"20",
	),
});

export function replayRoutes(deps: ReplayDeps): Hono {
	const app = new Hono();
	app.get("/", async (c) => {
		const wanted = readQuery(listSchema, c.req.query());
		const { remaining } = await replayDeadLetters(deps, { queue: null, until: deps.now(), actor: null });
		const messages = await listDeadLetters(deps.db, wanted.queue ?? null, wanted.limit);
		return jsonResponse({ waiting: remaining, letters: messages } satisfies DeadLetters);
	});
	app.post("/", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const wanted = await readBody(c.req.raw, replaySchema);
		const until = wanted.until === undefined ? deps.now() : Date.parse(wanted.until);
		const report = await replayDeadLetters(deps, {
			queue: wanted.queue ?? null,
			until,
			actor: isDryRun || wanted.dry_run ? null : actorOf(c),
		});
		return jsonResponse({ ...report, until: isoTime(until) } satisfies Replayed);
	});
	return app;
}
