/** What a publisher sees and does with its Access Key, beside the endpoints of the interface. */
import { type Context, Hono } from "hono";
import type { BiddingDeps } from "../bidding/deps.ts";
import type { CallbackDeps } from "../callbacks/deliver-callback.ts";
import type { LinkTokens } from "../click-token/link-token.ts";
import { answerHttpError } from "../http/errors.ts";
import { assertNoBody, assertNoQuery, limitBody, readBody } from "../http/read-input.ts";
import { methodNotAllowed } from "../lib/http.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { answerActive, answerOwner, type PublisherDeps } from "./answer-publisher.ts";
import { readBrandsQuery } from "./brands-request.ts";
import { readClicksQuery } from "./clicks-request.ts";
import { readConversionsQuery } from "./conversions-request.ts";
import { readEarningsQuery } from "./earnings-request.ts";
import { explainOwn, MAX_EXPLAIN_BYTES } from "./explain-own.ts";
import { readNoBids, readNoBidsQuery } from "./no-bids.ts";
import {
	keyActor,
	listOwnCallbacks,
	MAX_REPLAY_BYTES,
	replayOwnCallback,
	replayOwnCallbacks,
	replayOwnSchema,
	testOwnCallback,
} from "./own-callbacks.ts";
import { readAccount } from "./read-account.ts";
import { readBrands } from "./read-brands.ts";
import { readClicks } from "./read-clicks.ts";
import { readConversions } from "./read-conversions.ts";
import { type EarningsDeps, readEarnings } from "./read-earnings.ts";
import { linksRequestSchema, MAX_LINKS_BYTES, writeLinks } from "./write-links.ts";

export type PublisherApiDeps = PublisherDeps & {
	kv: KVNamespace;
	bidding: BiddingDeps;
	links: LinkTokens;
	/** Origin of tracking links, without a trailing slash. */
	trackerUrl: string;
	callbacks: () => CallbackDeps;
	dataThrough: EarningsDeps["dataThrough"];
};

const READS = ["/account", "/clicks", "/conversions", "/earnings", "/no-bids", "/brands", "/callbacks"];
const WRITES = ["/callbacks/test", "/callbacks/replay", "/callbacks/:id/replay", "/links", "/explain"];

export function publisherApiRoutes(deps: PublisherApiDeps): Hono {
	const { db, now } = deps;
	const app = new Hono();
	const query = (c: Context) => c.req.query();
	const actor = (publisher: string, c: Context) => keyActor(publisher, requestIdOf(c.req.raw, now()));
	app.get(
		"/account",
		answerOwner(deps, (owner, c) => {
			assertNoQuery(c);
			return readAccount(db, owner, now());
		}),
	);
	app.get(
		"/clicks",
		answerOwner(deps, (owner, c) => readClicks(db, owner, readClicksQuery(query(c), now()))),
	);
	app.get(
		"/conversions",
		answerOwner(deps, (owner, c) => readConversions(db, owner, readConversionsQuery(query(c), now()))),
	);
	app.get(
		"/earnings",
		answerOwner(deps, (owner, c) => readEarnings(deps, owner, readEarningsQuery(query(c), now()))),
	);
	app.get(
		"/no-bids",
		answerOwner(deps, (owner, c) => readNoBids(db, owner, readNoBidsQuery(query(c), now()))),
	);
	app.get(
		"/callbacks",
		answerOwner(deps, (owner, c) => listOwnCallbacks(deps, owner, query(c))),
	);
	app.get(
		"/brands",
		answerActive(deps, (publisher, c) => readBrands(deps, publisher, readBrandsQuery(query(c)))),
	);
	app.post(
		"/callbacks/test",
		limitBody(MAX_REPLAY_BYTES),
		answerActive(
			deps,
			async ({ id }, c) => {
				await assertNoBody(c.req.raw);
				return testOwnCallback(deps.callbacks(), id, actor(id, c));
			},
			"calling",
		),
	);
	app.post(
		"/callbacks/:id/replay",
		limitBody(MAX_REPLAY_BYTES),
		answerActive(
			deps,
			async ({ id }, c) => {
				await assertNoBody(c.req.raw);
				return replayOwnCallback(deps.callbacks(), id, c.req.param("id") ?? "", actor(id, c));
			},
			"calling",
		),
	);
	app.post(
		"/callbacks/replay",
		limitBody(MAX_REPLAY_BYTES),
		answerActive(
			deps,
			async ({ id }, c) => replayOwnCallbacks(deps.callbacks(), id, await readBody(c.req.raw, replayOwnSchema), actor(id, c)),
			"calling",
		),
	);
	app.post(
		"/links",
		limitBody(MAX_LINKS_BYTES),
		answerActive(deps, async (publisher, c) => writeLinks(deps, publisher, await readBody(c.req.raw, linksRequestSchema))),
	);
	app.post(
		"/explain",
		limitBody(MAX_EXPLAIN_BYTES),
		answerActive(deps, async (publisher, c) =>
			explainOwn(deps.bidding, publisher, await c.req.text(), (promise) => c.executionCtx.waitUntil(promise)),
		),
	);
	for (const path of READS) app.all(path, () => methodNotAllowed("GET, HEAD"));
	for (const path of WRITES) app.all(path, () => methodNotAllowed("POST"));
	app.onError(answerHttpError);
	return app;
}
