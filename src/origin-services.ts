/** Everything that the routes of the origin are made of, once an isolate. */
import type { AdjustingDeps } from "./adjustments/deps.ts";
import type { BiddingDeps } from "./bidding/deps.ts";
import type { CampaignBook } from "./campaign-book/load.ts";
import { publishBookPatiently } from "./campaign-book/publisher/publish.ts";
import { ListStates } from "./catalogue/list-states.ts";
import { ReadyLists } from "./catalogue/ready-lists.ts";
import { LinkTokens } from "./click-token/link-token.ts";
import { ClickTokens } from "./click-token/token.ts";
import { sweepImportedCaps } from "./clicks/consumer/caps.ts";
import { type Env, readConfig } from "./config.ts";
import { attachConversion, detachConversion, judgeConversion } from "./conversions/judge-conversion.ts";
import { PostbackBatcher } from "./conversions/postback-batcher.ts";
import { revalueConversions } from "./conversions/revalue-conversions.ts";
import { UnknownKeyLimit } from "./conversions/unknown-key-limit.ts";
import { isNetworkElsewhere } from "./database-move/hold-work.ts";
import { isHeld } from "./database-move/source.ts";
import { FailedKeys } from "./http/failed-keys.ts";
import { PublisherLimit } from "./http/publisher-limit.ts";
import { KeyOwners } from "./keys/key-owners.ts";
import { measureTo } from "./lib/measure.ts";
import { PerMinute } from "./lib/per-minute.ts";
import { SecretBox } from "./lib/secret-box.ts";
import { HOUR_MS } from "./lib/time.ts";
import { readDataThrough } from "./network-reports/data-through.ts";
import { boundEnv, callbackDeps, clickDeps, clickFacts, databases, now } from "./origin-deps.ts";
import { KeptNetwork } from "./products/kept-network.ts";

/** What the routes of the origin are given. `book` is the reader of the bid path where both live in one Worker: a publish reaches it at once. */
export function openServices(bindings: Env, book: CampaignBook) {
	const env = boundEnv(bindings);
	const config = readConfig(env);
	const { db, products, move } = databases(env);
	const keys = new KeyOwners({ db, now });
	const states = new ListStates(db, now);
	const network = new KeptNetwork({ db, now });
	const links = new LinkTokens(config.TOKEN_KEYS);
	const limit = new PublisherLimit({ now, shared: env.PUBLISHERS });
	const failedKeys = new FailedKeys({ now, limit: env.FAILED_KEYS });
	const queues = { clicks: env.CLICKS, postbacks: env.POSTBACKS, callbacks: env.CALLBACKS };
	const consoleUrl = config.CONSOLE_URL ?? config.BASE_URL;
	const sweepCaps = () => sweepImportedCaps(clickDeps(env, (campaignIds) => book.adoptPauses(campaignIds, now())));
	const publish = async () => {
		keys.forget();
		states.forget();
		network.forget();
		clickFacts.forget();
		const published = await publishBookPatiently({ db, kv: env.BOOK, now, bookFormat: config.BOOK_FORMAT });
		if (published.manifest !== null) await book.adopt(published.manifest, now());
		await sweepCaps();
		return published;
	};
	const bidding: BiddingDeps = {
		book,
		tokens: new ClickTokens(config.TOKEN_KEYS),
		clickUrl: config.CLICK_URL,
		clickTtlMs: config.CLICK_TTL_HOURS * HOUR_MS,
		now,
		vendorId: config.GVL_VENDOR_ID,
	};
	const settling = { db, callbacks: env.CALLBACKS, now };
	const adjusting: AdjustingDeps = {
		db,
		now,
		judge: (...word) => judgeConversion(settling, ...word),
		attach: (...word) => attachConversion(settling, ...word),
		detach: (...word) => detachConversion(settling, ...word),
		revalue: (...conversions) => revalueConversions(settling, ...conversions),
		onSpendChanged: sweepCaps,
	};
	return {
		env,
		config,
		db,
		products,
		move,
		keys,
		failedKeys,
		limit,
		queues,
		consoleUrl,
		bidding,
		settling,
		adjusting,
		isNetworkHeld: async () => move !== null && !move.hasSwitched && (await isHeld(move.from)),
		catalogue: { db, keys, states, links, ready: new ReadyLists(config.BASE_URL, now), trackerUrl: config.TRACKER_URL },
		publisherApi: {
			db,
			kv: env.BOOK,
			keys,
			now,
			limit,
			bidding,
			links,
			trackerUrl: config.TRACKER_URL,
			callbacks: () => callbackDeps(env),
			dataThrough: () => readDataThrough({ db, kv: env.BOOK, queues: { clicks: env.CLICKS, postbacks: env.POSTBACKS }, now }),
		},
		searching: { products, network, keys, links, clickUrl: config.CLICK_URL },
		postbacks: {
			db,
			keys,
			areKeysElsewhere: move === null ? undefined : () => isNetworkElsewhere(move),
			now,
			// It has a bound of its own: no postback is to pay for two.
			postbacks: bindings.POSTBACKS === undefined ? undefined : new PostbackBatcher(bindings.POSTBACKS),
			callbacks: env.CALLBACKS,
			failedKeys,
			unknownKeys: new UnknownKeyLimit(env.UNKNOWN_KEYS),
			perMinute: new PerMinute(),
			measure: measureTo(env.EVENTS),
		},
		imports: { db, products, now, publish, allowInsecureCallbacks: config.ALLOW_INSECURE_CALLBACKS },
		issuing: { db, now, publish, box: new SecretBox(config.TOKEN_KEYS) },
		watching: { db, products, kv: env.BOOK, queues, now },
		mending: { ...settling, clickDays: config.CLICK_RETENTION_DAYS },
	};
}

export type Services = ReturnType<typeof openServices>;
