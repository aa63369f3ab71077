import type * as v from "valibot";
import { callOperator } from "./call-operator.ts";
import type { ServerOptions } from "./command.ts";
import { namesOf, parametersOf } from "./option-names.ts";
import { take } from "./take-answer.ts";
import { targetOf } from "./target.ts";

/**
 * Asks the server for a page of a list.
 * @param filters options that are sent as parameters, those that are given: `subjectKind` as `subject_kind`
 * @throws Failure where it refuses, or does not answer
 */
export async function readPage<Output, Filter extends string>(
	options: ServerOptions & Partial<Record<Filter, string>>,
	path: string,
	filters: readonly Filter[],
	schema: v.GenericSchema<unknown, Output>,
): Promise<Output> {
	const query = new URLSearchParams(parametersOf(filters, options));
	return take(schema, await callOperator(targetOf(options), `${path}?${query}`, null), { names: namesOf(filters) });
}
