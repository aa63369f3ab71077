/** Composition root of the all-in-one Worker: the edge and the origin in one. Also what runs locally and in tests. */
import { runCron, runQueue } from "./background.ts";
import type { Env } from "./config.ts";
import { withConnections, withConnectionsOf } from "./db/postgres-connections.ts";
import { type Edge, edgeOf, serve } from "./edge.ts";
import { type Readiness, routeHealth } from "./health.ts";
import { type Origin, openOrigin } from "./origin.ts";

const joined = new WeakMap<Env, Whole>();

/** The edge's parts and the origin's, over one book. */
type Whole = { edge: Edge; origin: Origin };

function wholeOf(env: Env): Whole {
	const known = joined.get(env);
	if (known !== undefined) return known;
	const edge = edgeOf(env);
	const whole = { edge, origin: openOrigin(env, edge.book) };
	joined.set(env, whole);
	return whole;
}

function answer(whole: Whole, request: Request, env: Env, ctx: ExecutionContext): Response | Promise<Response> {
	const { edge, origin } = whole;
	return (
		edge.answer(request, ctx) ??
		origin.answer(request, ctx) ??
		routeHealth(request, () => isReady(whole, ctx)) ??
		origin.app.fetch(request, env, ctx)
	);
}

async function isReady({ edge, origin }: Whole, ctx: ExecutionContext): Promise<Readiness> {
	const [status, body] = await origin.isReady();
	return status === 200 ? edge.isReady(ctx) : [status, body];
}

/** A pause reaches the bids of this isolate at once. */
function adoptPauses(env: Env): (campaignIds: readonly number[]) => void {
	return (campaignIds) => edgeOf(env).book.adoptPauses(campaignIds, Date.now());
}

export default {
	fetch: (request, env, ctx) =>
		withConnections(env, () =>
			serve(
				() => wholeOf(env),
				(whole) => answer(whole, request, env, ctx),
			),
		),
	scheduled: (controller, env) => withConnectionsOf(env, () => runCron(controller, env, adoptPauses(env))),
	queue: (batch, env, _ctx) => withConnectionsOf(env, () => runQueue(batch, env, adoptPauses(env))),
} satisfies ExportedHandler<Env>;
