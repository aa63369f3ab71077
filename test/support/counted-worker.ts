/** The Worker in an isolate of its own, so to speak: nothing is remembered yet, and every statement to the network database is seen. */
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import worker from "../../src/worker.ts";
import "./worker-env.ts";

export type CountedWorker = {
	fetch: (path: string, init?: RequestInit) => Promise<{ status: number; text: string; headers: Headers }>;
	/** What was prepared since this was last asked. */
	takeStatements: () => string[];
};

/** @param changes other variables and secrets than the tests have */
export function openCountedWorker(changes: Record<string, string> = {}): CountedWorker {
	let statements: string[] = [];
	const DB = new Proxy(env.DB, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name);
			if (typeof value !== "function") return value;
			if (name !== "prepare") return value.bind(target);
			return (query: string) => {
				statements.push(query);
				return target.prepare(query);
			};
		},
	});
	const own = { ...env, DB, ...changes };
	return {
		async fetch(path, init) {
			const ctx = createExecutionContext();
			const request = new Request(`https://base.example${path}`, init);
			const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], own, ctx);
			const text = await response.text();
			await waitOnExecutionContext(ctx);
			return { status: response.status, text, headers: response.headers };
		},
		takeStatements() {
			const taken = statements;
			statements = [];
			return taken;
		},
	};
}
