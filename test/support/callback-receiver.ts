/** The publisher's side of callback tests: a real HTTP server, started by start-callback-receiver.ts. */
import { inject } from "vitest";
import "./provided-context.ts";

export type ReceivedCall = { url: string; method: string; headers: Record<string, string | undefined> };

/** An address that behaves as named there; calls of it are remembered under `name`. */
export function receiverUrl(behaviour: string, name: string): string {
	return `${inject("callbackReceiver")}/${behaviour}/${name}`;
}

/** The calls that arrived under a name, in order. */
export async function receivedCalls(name: string): Promise<ReceivedCall[]> {
	const response = await fetch(receiverUrl("calls", name));
	return response.json();
}

/** What arrived under a name, shortly: `txnid status`. */
export async function received(name: string): Promise<string[]> {
	return (await receivedCalls(name)).map(({ url }) => {
		const query = new URL(url, "http://receiver").searchParams;
		return `${query.get("txnid")} ${query.get("status")}`;
	});
}

/** Sets what an `answer` address answers from now on. */
export async function setStatus(name: string, status: number): Promise<void> {
	const response = await fetch(receiverUrl("set", `${name}?status=${status}`));
	await response.body?.cancel();
}
