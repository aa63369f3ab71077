/** The contract of the queue `callbacks`: which outbox row may be due. Version 1. The row, not the message, says whether it is. */

export type CallbackMessage = { format: 1; id: string };

export function callbackMessage(id: string): CallbackMessage {
	return { format: 1, id };
}

/** The outbox id in a message's body; null where it is not one of this version. */
export function readCallbackMessage(body: unknown): string | null {
	if (typeof body !== "object" || body === null || !("format" in body) || !("id" in body)) return null;
	return body.format === 1 && typeof body.id === "string" ? body.id : null;
}
