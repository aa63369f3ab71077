/** Talks to V8's inspector of one Worker. */
import type { Runtime } from "./runtime.ts";

type Target = { id: string; webSocketDebuggerUrl: string };
type Answer = { id?: number; result?: unknown; error?: { message: string } };

const POKE_MS = 50;

export class Inspector {
	readonly #socket: WebSocket;
	readonly #open = new Map<number, (answer: Answer) => void>();
	#last = 0;

	private constructor(socket: WebSocket) {
		this.#socket = socket;
		socket.addEventListener("message", ({ data }) => {
			const answer = JSON.parse(String(data)) as Answer;
			if (answer.id !== undefined) this.#open.get(answer.id)?.(answer);
		});
		socket.addEventListener("close", () => {
			for (const settle of this.#open.values()) settle({ error: { message: "the inspector closed the connection" } });
		});
	}

	/** @throws Error where the runtime was started without an inspector, or has no such Worker */
	static async connect(runtime: Runtime, worker: string): Promise<Inspector> {
		const url = await runtime.miniflare.getInspectorURL();
		const targets = (await (await fetch(`http://${url.host}/json`)).json()) as Target[];
		const target = targets.find(({ id }) => id === worker || id.endsWith(`:${worker}`));
		if (target === undefined) throw new Error(`the inspector knows no Worker ${worker}: ${targets.map(({ id }) => id).join(", ")}`);
		const socket = new WebSocket(target.webSocketDebuggerUrl);
		await new Promise((resolve, reject) => {
			socket.addEventListener("open", resolve);
			socket.addEventListener("error", () => reject(new Error(`no connection to ${target.webSocketDebuggerUrl}`)));
		});
		return new Inspector(socket);
	}

	async send<Result>(method: string, params: object = {}): Promise<Result> {
		const id = ++this.#last;
		const { promise, resolve } = Promise.withResolvers<Answer>();
		this.#open.set(id, resolve);
		this.#socket.send(JSON.stringify({ id, method, params }));
		const { result, error } = await promise;
		this.#open.delete(id);
		if (error !== undefined) throw new Error(`${method}: ${error.message}`);
		return result as Result;
	}

	/**
	 * Bytes that V8 holds after a full collection: its own heap, and buffers outside of it.
	 * @param poke makes the Worker answer some request: workerd collects only when the isolate runs
	 */
	async heap(poke: () => Promise<unknown>): Promise<{ used: number; buffers: number }> {
		// Twice: what the first collection finalises is only freed by a second one.
		for (let round = 0; round < 2; round++) await this.#collect(poke);
		const usage = await this.send<{ usedSize: number; backingStorageSize?: number }>("Runtime.getHeapUsage");
		return { used: usage.usedSize, buffers: usage.backingStorageSize ?? 0 };
	}

	async #collect(poke: () => Promise<unknown>): Promise<void> {
		let collected = false;
		const answered = this.send("HeapProfiler.collectGarbage").then(() => {
			collected = true;
		});
		while (!collected) {
			await poke();
			await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, POKE_MS))]);
		}
	}

	[Symbol.dispose](): void {
		this.#socket.close();
	}
}
