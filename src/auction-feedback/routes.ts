/** What publishers tell of auctions, and what the operator sees of it. */
import { Hono } from "hono";
import type { Database } from "../db/client.ts";
import { answerHttpError } from "../http/errors.ts";
import { limitBody, readBody } from "../http/read-input.ts";
import { jsonResponse, methodNotAllowed } from "../lib/http.ts";
import { answerActive, type PublisherDeps } from "../publisher-api/answer-publisher.ts";
import { readFeedback, readFeedbackQuery } from "./read-feedback.ts";
import { feedbackRequestSchema, MAX_FEEDBACK_BYTES, takeFeedback } from "./take-feedback.ts";

/** POST /api/auction-feedback. */
export function feedbackRoutes(deps: PublisherDeps): Hono {
	const app = new Hono();
	const path = "/auction-feedback";
	app.post(
		path,
		limitBody(MAX_FEEDBACK_BYTES),
		answerActive(deps, async ({ id }, c) => takeFeedback(deps.db, id, await readBody(c.req.raw, feedbackRequestSchema), deps.now())),
	);
	app.all(path, () => methodNotAllowed("POST"));
	app.onError(answerHttpError);
	return app;
}

/** GET /operator/auction-feedback. */
export function feedbackReportRoutes({ db, now }: { db: Database; now: () => number }): Hono {
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await readFeedback(db, readFeedbackQuery(c.req.query(), now()))));
	return app;
}
