/**
 * Sends clicks to a queue that does as each click's `mode` says, and keeps in KV what that refuses.
 * GET /?id=I&mode=M; with `lives`, the request does not wait for its click, but ends so many milliseconds later. GET /ended lists the clicks
 * whose sending has ended.
 */
import { ClickBatches } from "../../src/clicks/click-batches.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { ClickSender } from "../../src/clicks/send-click.ts";

const pause = (milliseconds: number) => scheduler.wait(milliseconds);
const MODES: Record<string, () => Promise<unknown>> = {
	takes: () => pause(5),
	// As a request to the queue that nobody answers: the runtime ends a request that waits for nothing of its own.
	hangs: () => pause(60_000),
	refuses: () => Promise.reject(new Error("away")),
};
const modes = new Map<string, string>();
const ended: string[] = [];
let sender: ClickSender | undefined;

export default {
	async fetch(request, env, ctx) {
		const { pathname, searchParams } = new URL(request.url);
		if (pathname === "/ended") return Response.json(ended);
		sender ??= new ClickSender({
			queue: { send: async ({ id }) => MODES[modes.get(id) ?? ""]?.() },
			batches: new ClickBatches(env.BOOK, pause),
			pause,
		});
		const id = searchParams.get("id") ?? "";
		modes.set(id, searchParams.get("mode") ?? "");
		const sending = sender.send({ id } as ClickMessage).then(() => void ended.push(id));
		const lives = searchParams.get("lives");
		ctx.waitUntil(lives === null ? sending : pause(Number(lives)));
		return new Response();
	},
} satisfies ExportedHandler<{ BOOK: KVNamespace }>;
