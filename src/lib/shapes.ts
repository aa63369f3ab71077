/** Schemas of what several answers hold. They describe answers, hold the tests and read them in the CLI. */
import * as v from "valibot";
import { QUEUE_NAMES } from "./enums.ts";

export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const time = v.pipe(v.string(), v.isoTimestamp(), v.description("ISO 8601, UTC."));
export const usd = v.pipe(v.string(), v.regex(/^-?\d+\.\d{4}$/), v.description("USD, four decimals."));

/** One value a queue. */
export function perQueue<const Schema extends v.GenericSchema>(schema: Schema) {
	return v.strictObject(v.entriesFromList(QUEUE_NAMES, schema));
}

/** The same schema of an object, that takes no list for one, as Valibot does. */
export function notAList<const Schema extends v.GenericSchema>(schema: Schema): Schema {
	return {
		...schema,
		"~run": (dataset, config) => schema["~run"](Array.isArray(dataset.value) ? { value: null } : dataset, config),
	};
}

/** An object of names that whoever sends it chooses. Valibot passes over some of them: `constructor`, `prototype` and `__proto__`. */
export function mapOf<const Name extends v.GenericSchema<string, string>, const Value extends v.GenericSchema>(
	name: Name,
	value: Value,
	message: string,
) {
	const record = notAList(v.record(name, value, message));
	const pairs = v.array(v.tuple([name, value]));
	const run = (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) => {
		const input = dataset.value;
		if (typeof input !== "object" || input === null || Array.isArray(input)) return record["~run"](dataset, config);
		const named: [string, unknown][] = Object.entries(input);
		const read = pairs["~run"]({ value: named }, config);
		for (const { path } of read.issues ?? []) {
			const [pair, side] = path?.splice(0, 2) ?? [];
			const [key = "", given] = named[Number(pair?.key)] ?? [];
			path?.unshift({ type: "object", origin: side?.key === 0 ? "key" : "value", input: { ...input }, key, value: given });
		}
		return { ...read, value: Object.fromEntries(read.value as [string, unknown][]) };
	};
	return { ...record, "~run": run as (typeof record)["~run"] };
}

/**
 * A list, of which too long a one is told without a look at its entries: each may have faults of its own, and a body holds many.
 * @param tooLong what is told of it
 */
export function listOfAtMost<const Item extends v.GenericSchema>(item: Item, most: number, tooLong: string) {
	const list = v.pipe(v.array(item, "must be a list"), v.maxLength(most, tooLong));
	const unread = v.pipe(v.custom<unknown[]>(Array.isArray), v.maxLength(most, tooLong));
	const run: (typeof list)["~run"] = (dataset, config) =>
		Array.isArray(dataset.value) && dataset.value.length > most ? unread["~run"](dataset, config) : list["~run"](dataset, config);
	return { ...list, "~run": run };
}

/** What is wrong with an input, or doubtful in it, and where: a path such as `brands[3].domain`. */
export const findingSchema = v.strictObject({ path: v.string(), message: v.string() });
export const findings = v.array(findingSchema);

/** The operator's 422. */
export const faultsSchema = v.strictObject({ error: v.literal("Validation failed"), faults: findings, fault_count: count });

/** One call of a publisher's address. */
export const attemptSchema = v.strictObject({
	at: time,
	http_status: v.pipe(v.nullable(count), v.description("Null where there was no answer.")),
	latency_ms: count,
	answer: v.pipe(v.string(), v.description("First bytes of the answer, or what went wrong.")),
});
