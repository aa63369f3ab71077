import { type AlertSettings, type Config, checkAlertSettings, checkVariables } from "./variables.ts";

/** What `wrangler.toml` binds and sets. The edge Worker has no database; a Worker without OPERATOR_KEY serves `/operator` to holders of operator keys alone. */
export interface Env {
	BOOK: KVNamespace;
	DB?: D1Database;
	/** PostgreSQL as the network database in the place of `DB`; optional. */
	POSTGRES?: Pick<Hyperdrive, "connectionString">;
	/** Which of both is in use: see docs/operations/postgresql.md. */
	NETWORK_DATABASE?: string;
	PRODUCTS?: D1Database;
	RTB_URL?: string;
	CLICK_URL?: string;
	TRACKER_URL?: string;
	BASE_URL?: string;
	CONSOLE_URL?: string;
	/** Queues; an edge Worker binds only CLICKS. */
	CLICKS?: Queue;
	POSTBACKS?: Queue;
	CALLBACKS?: Queue;
	/** How many postbacks with unknown keys one place keeps; optional. */
	UNKNOWN_KEYS?: RateLimit;
	/** Clicks a minute by address and by a bid's token; optional. */
	CLICK_ADDRESSES?: RateLimit;
	CLICK_TOKENS?: RateLimit;
	/** Clicks a minute by publisher and address where nothing of the user is kept; optional. */
	CLICK_STRIPPED?: RateLimit;
	/** The same by publisher and IPv6 network of 48 bits; optional. */
	CLICK_STRIPPED_NETWORKS?: RateLimit;
	/** Failed keys by address. */
	FAILED_KEYS?: RateLimit;
	/** Calls of publishers; optional. */
	PUBLISHERS?: RateLimit;
	/** Analytics Engine dataset for data points; nothing depends on it. */
	EVENTS?: AnalyticsEngineDataset;
	/** Takes old rows before they are removed; optional. */
	ARCHIVE?: R2Bucket;
	SNAPSHOT_TTL_SECONDS?: string | number;
	BOOK_FORMAT?: string | number;
	BOOK_MEMORY_MIB?: string | number;
	CLICK_TTL_HOURS?: string | number;
	GVL_VENDOR_ID?: string | number;
	CLICK_RETENTION_DAYS?: string | number;
	ALLOW_INSECURE_CALLBACKS?: string | boolean;
	TOKEN_KEYS?: string;
	TOKEN_VERSION?: string | number;
	OPERATOR_KEY?: string;
	ACCESS_TEAM?: string;
	ACCESS_AUD?: string;
	ALERT_URL?: string;
	ALERT_SECRET?: string;
}

const checked = new WeakMap<Env, Config>();

/**
 * The checked configuration of this Worker; checked once an isolate.
 * @throws Error that names every variable at fault, never its value
 */
export function readConfig(env: Env): Config {
	const known = checked.get(env);
	if (known !== undefined) return known;
	const config = checkVariables(env as unknown as Record<string, unknown>);
	checked.set(env, config);
	return config;
}

/** Where alerts go: the cron alone asks. @throws Error as {@link checkAlertSettings} */
export function readAlertSettings({ ALERT_URL, ALERT_SECRET }: Env): AlertSettings {
	return checkAlertSettings({ ALERT_URL, ALERT_SECRET });
}
