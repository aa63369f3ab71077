/** Faults for the soak test, between the real Workers and the real bindings: what a bad day of the platform looks like. */

type Rates = {
	/** A D1 call that fails before it does anything. */
	databaseRefuses: number;
	/** A D1 batch that commits, and whose answer is lost. */
	databaseAnswerLost: number;
	/** A message that a queue does not take. */
	queueRefuses: number;
	/** A batch of messages that is delivered again although it was taken. */
	queueRedelivers: number;
};

const NO_FAULTS: Rates = { databaseRefuses: 0, databaseAnswerLost: 0, queueRefuses: 0, queueRedelivers: 0 };

let rates: Rates = NO_FAULTS;
const counts: Record<keyof Rates, number> = { databaseRefuses: 0, databaseAnswerLost: 0, queueRefuses: 0, queueRedelivers: 0 };

/** Sets the rates from a request's JSON body and answers how often each fault has happened. */
export async function controlFaults(request: Request): Promise<Response> {
	rates = await request.json();
	return Response.json(counts);
}

export const CONTROL_PATH = "/soak/faults";

function strikes(fault: keyof Rates): boolean {
	if (Math.random() >= rates[fault]) return false;
	counts[fault] += 1;
	return true;
}

/** The same environment with bindings that fail now and then. */
export function withFaults<Env extends object>(env: Env): Env {
	const wrapped = new Map<unknown, unknown>();
	return new Proxy(env, {
		get(target, name) {
			// What is bound under a name is known from wrangler.toml, not from a type.
			const value: unknown = Reflect.get(target, name);
			if (name === "DB" || name === "PRODUCTS") return remember(wrapped, value, () => faultyDatabase(value as D1Database));
			if (name === "CLICKS" || name === "POSTBACKS" || name === "CALLBACKS")
				return remember(wrapped, value, () => faultyQueue(value as Queue));
			return value;
		},
	});
}

function remember(wrapped: Map<unknown, unknown>, value: unknown, wrap: () => unknown): unknown {
	if (value === undefined) return undefined;
	if (!wrapped.has(value)) wrapped.set(value, wrap());
	return wrapped.get(value);
}

function faultyDatabase(database: D1Database): Pick<D1Database, "prepare" | "batch" | "exec"> {
	return {
		prepare(query) {
			if (strikes("databaseRefuses")) throw new Error("D1_ERROR: injected: the database is overloaded");
			return database.prepare(query);
		},
		async batch<Row>(statements: D1PreparedStatement[]) {
			const results = await database.batch<Row>(statements);
			if (strikes("databaseAnswerLost")) throw new Error("D1_ERROR: injected: the connection was lost after the commit");
			return results;
		},
		exec: (query) => database.exec(query),
	};
}

function faultyQueue(queue: Queue): Pick<Queue, "send" | "sendBatch"> {
	const refuse = () => {
		if (strikes("queueRefuses")) throw new Error("injected: the queue is not available");
	};
	return {
		async send(message, options) {
			refuse();
			return queue.send(message, options);
		},
		async sendBatch(messages, options) {
			refuse();
			return queue.sendBatch(messages, options);
		},
	};
}

/**
 * Delivers a batch to a consumer. Its acknowledgements take effect only afterwards, and not at all where the batch is to be delivered
 * again: as where a Worker dies after its work is done.
 */
export async function deliver(batch: MessageBatch, consume: (batch: MessageBatch) => Promise<void>): Promise<void> {
	const settled: (() => void)[] = [];
	const later = (settle: () => void) => void settled.push(settle);
	const messages = batch.messages.map((message) => ({
		id: message.id,
		timestamp: message.timestamp,
		body: message.body,
		attempts: message.attempts,
		ack: () => later(() => message.ack()),
		retry: (options?: QueueRetryOptions) => later(() => message.retry(options)),
	}));
	await consume({
		queue: batch.queue,
		messages,
		metadata: batch.metadata,
		ackAll: () => later(() => batch.ackAll()),
		retryAll: (options) => later(() => batch.retryAll(options)),
	} as MessageBatch);
	if (strikes("queueRedelivers")) {
		batch.retryAll({ delaySeconds: 1 });
		return;
	}
	for (const settle of settled) settle();
}
