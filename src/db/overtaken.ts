/** What the code tells apart of the ways in which a transaction fails, whatever the engine. */
import { HELD } from "../lib/away.ts";

/** Another writer was faster: what was decided rests on a state that is no more. Read and decide again. */
export class OvertakenError extends Error {
	override readonly name = "OvertakenError";
}

export function isOvertaken(error: unknown): boolean {
	return error instanceof OvertakenError;
}

/** How often it is decided, the first time with it. */
const MAX_TRIES = 5;

/**
 * Runs what reads, decides and writes again where another writer was faster.
 * @throws OvertakenError where others were faster every time; whatever else `run` throws, at once
 */
export async function retryOvertaken<Result>(run: () => Promise<Result>): Promise<Result> {
	for (let tries = 1; ; tries++) {
		try {
			return await run();
		} catch (error) {
			if (!isOvertaken(error) || tries === MAX_TRIES) throw error;
		}
	}
}

/** A failure of PostgreSQL that is no absence (src/lib/away.ts). Its message holds no values: they may be personal. */
export class PostgresError extends Error {
	override readonly name = "PostgresError";
	/** `constraint`: a row stands in the way; `statement`: the database refused it otherwise. */
	readonly kind: "constraint" | "statement";

	constructor(kind: PostgresError["kind"], message: string) {
		super(message);
		this.kind = kind;
	}
}

/** Whether a transaction failed because a row stood in its way that was not there, or was another, when its facts were read. */
export function isConstraintError(error: unknown): boolean {
	if (error instanceof PostgresError) return error.kind === "constraint";
	return error instanceof Error && /SQLITE_CONSTRAINT|constraint failed/i.test(error.message) && !error.message.includes(HELD);
}
