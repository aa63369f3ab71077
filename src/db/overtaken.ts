/** Another writer was faster: what was decided rests on a state that is no more. Read and decide again. */
export class OvertakenError extends Error {
	override readonly name = "OvertakenError";
}

/** Whether a transaction failed because a row stood in its way that was not there, or was another, when its facts were read. */
export function isConstraintError(error: unknown): boolean {
	return error instanceof Error && /SQLITE_CONSTRAINT|constraint failed/i.test(error.message);
}
