import type * as v from "valibot";
import { Failure } from "../local/failure.ts";
import { callOperator } from "./call-operator.ts";
import type { ServerOptions } from "./command.ts";
import { describePlaces, readFaults } from "./import-report.ts";
import { readAnswer } from "./read-answer.ts";
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
	const query = new URLSearchParams();
	for (const name of filters) {
		const value: string | undefined = options[name];
		if (value !== undefined)
			query.set(
				name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
				value,
			);
	}
	const target = targetOf(options);
	const { status, body } = await callOperator(target, `${path}?${query}`, null);
	if (status === 422) {
		const { faults, fault_count } = readFaults(body);
		throw new Failure(["The server refused this:", ...describePlaces(faults, fault_count)].join("\n"));
	}
	if (status !== 200) throw new Failure(`The server could not do this: HTTP ${status} ${JSON.stringify(body).slice(0, 500)}\nSee its log.`);
	return readAnswer(schema, body);
}
