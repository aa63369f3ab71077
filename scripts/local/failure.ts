/** A failure whose message tells the user what is wrong and what to do next: printed without a stack. */
export class Failure extends Error {
	override readonly name = "Failure";
}

/** Prints why a script ends, and makes it end with exit code 1. Anything but a {@link Failure} is a fault of ours: with its stack. */
export function reportFailure(error: unknown): void {
	process.exitCode = 1;
	if (error instanceof Failure) console.error(`\n${error.message}`);
	else console.error(error);
}

/** The `code` of a system error such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
	if (!(error instanceof Error)) return undefined;
	if ("code" in error && typeof error.code === "string") return error.code;
	return error.cause === undefined ? undefined : errorCode(error.cause);
}
