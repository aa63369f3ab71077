/** The answers to requests at fault that several parts of the origin share, and who turns what a verb throws into its answer. */
import type { Hono } from "hono";
import type * as v from "valibot";
import { answerFault } from "../lib/answer-fault.ts";
import { HttpError, jsonResponse, notFound } from "../lib/http.ts";
import type { findingSchema } from "../lib/shapes.ts";

/** What is wrong with an input, and where: a path such as `brands[3].domain`, empty for the input as a whole. */
export type Fault = v.InferOutput<typeof findingSchema>;

/**
 * The operator's 422.
 * @param faultCount how many there are, where not all of them are listed
 */
export function invalidInput(faults: readonly Fault[], faultCount = faults.length): HttpError {
	return new HttpError(422, { error: "Validation failed", faults, fault_count: faultCount });
}

/**
 * The 404 of what a path names by its id: the message tells it from that of a path that is nowhere, or not for whoever asks.
 * @param message such as "There is no such claim."
 */
export function notThere(message: string): HttpError {
	return new HttpError(404, { error: "Not found", message });
}

/** The 422 of reports and searches, as the interface has it: what is wrong, by field. */
export function invalidFields(messages: Record<string, string[]>): HttpError {
	return new HttpError(422, { error: "Validation failed", messages });
}

/** Error handler of a part whose verbs throw HttpErrors. @throws any other error again: the Worker's own handler has it then */
export function answerHttpError(error: Error): Response {
	if (error instanceof HttpError) return jsonResponse(error.body, error.status);
	throw error;
}

/** Gives an app what it answers where it has no route, where what it needs is away, and where anything else was thrown. */
export function completeApp(app: Hono): void {
	app.notFound(notFound);
	app.onError((error, c) => answerFault(error, c.req.raw));
}
