import type { Fault } from "../http/errors.ts";
import { HttpError } from "../lib/http.ts";

/** What is wrong with a form, to be shown beside its fields. @throws the error itself where that is not what it says */
export function formFaults(error: unknown): readonly Fault[] {
	const faults = error instanceof HttpError && error.status === 422 ? (error.body as { faults?: readonly Fault[] }).faults : undefined;
	if (faults === undefined) throw error;
	return faults;
}
