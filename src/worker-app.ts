import type { Hono } from "hono";
import { answerFault } from "./lib/answer-fault.ts";
import { notFound } from "./lib/http.ts";

/** Gives an app what it answers where it has no route, where what it needs is away, and where anything else was thrown. */
export function completeApp(app: Hono): void {
	app.notFound(notFound);
	app.onError((error, c) => answerFault(error, c.req.raw));
}
