/** Parses a text of any origin; undefined, which no JSON says, where it is not JSON. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}

/** Whether a value is a JSON object: no list, and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What an object holds under a name that anyone may have chosen, `constructor` and `__proto__` among them; undefined where it holds nothing. */
export function ownOf<Value>(object: Readonly<Partial<Record<string, Value>>>, name: string): Value | undefined {
	return Object.hasOwn(object, name) ? object[name] : undefined;
}
