/**
 * One JSON line a log entry. Only what operators need: no addresses, user agents, keys or query strings.
 */
export type LogFields = Record<string, string | number | boolean | null | undefined>;

export function logInfo(event: string, fields: LogFields = {}): void {
	console.log(JSON.stringify({ level: "info", event, ...fields }));
}

export function logError(event: string, error: unknown, fields: LogFields = {}): void {
	console.error(JSON.stringify({ level: "error", event, ...fields, ...describe(error) }));
}

/** Drizzle puts bound parameters (personal data) in its message; the D1 error beneath it is what may be logged. */
function describe(error: unknown): LogFields {
	const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
	if (!(root instanceof Error)) return { error: typeof root };
	return { error: root.name, message: root.message, stack: root === error ? root.stack : undefined };
}
