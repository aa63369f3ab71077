import { Failure } from "../local/failure.ts";

/**
 * What was given as names and values, by name.
 * @param what how a name is called
 * @throws Failure where one is given twice, since one of its values would be passed over
 */
export function eachOnce<Value>(pairs: readonly (readonly [name: string, value: Value])[], what: string): Record<string, Value> {
	const repeated = pairs.find(([name], at) => pairs.findIndex(([other]) => other === name) < at);
	if (repeated !== undefined) throw new Failure(`${what} ${repeated[0]} is given more than once: give the one that you mean.`);
	return Object.fromEntries(pairs);
}
