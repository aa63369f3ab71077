import * as v from "valibot";

/** What `wrangler.toml` binds and sets. The edge Worker has no D1; a Worker without OPERATOR_KEY serves no `/operator`. */
export interface Env {
	BOOK: KVNamespace;
	DB?: D1Database;
	PRODUCTS?: D1Database;
	RTB_URL?: string;
	CLICK_URL?: string;
	TRACKER_URL?: string;
	BASE_URL?: string;
	/** Queues; an edge Worker binds CLICKS alone. */
	CLICKS?: Queue;
	POSTBACKS?: Queue;
	CALLBACKS?: Queue;
	/** How many postbacks with unknown keys one place keeps; optional. */
	UNKNOWN_KEYS?: RateLimit;
	/** Failed keys by address. */
	FAILED_KEYS?: RateLimit;
	/** Analytics Engine dataset for data points; nothing depends on it. */
	EVENTS?: AnalyticsEngineDataset;
	/** Takes old rows before they are removed; optional. */
	ARCHIVE?: R2Bucket;
	SNAPSHOT_TTL_SECONDS?: string | number;
	CLICK_TTL_HOURS?: string | number;
	CLICK_RETENTION_DAYS?: string | number;
	ALLOW_INSECURE_CALLBACKS?: string | boolean;
	TOKEN_KEYS?: string;
	OPERATOR_KEY?: string;
}

const origin = v.pipe(
	v.string("must be set"),
	v.check((text) => /^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text), "must be an http(s) origin such as https://click.example"),
	v.transform((text) => text.replace(/\/$/, "")),
);

const configSchema = v.object({
	/** Host of the real-time ad endpoints. */
	RTB_URL: origin,
	/** Click tracker that redirect links of bids point at. */
	CLICK_URL: origin,
	/** Host inside brand tracking links. */
	TRACKER_URL: origin,
	/** Host of the catalogue, reports, products and postbacks. */
	BASE_URL: origin,
	/** Age in seconds from which an isolate reads the campaign book's manifest anew, in the background. */
	SNAPSHOT_TTL_SECONDS: v.optional(
		v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.number("must be a number"), v.minValue(1), v.maxValue(3600)),
		15,
	),
	/** Age in hours from which the click URL of an auction still redirects but no longer counts. Tracking links do not age. */
	CLICK_TTL_HOURS: v.optional(
		v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.number("must be a number"), v.minValue(1), v.maxValue(8760)),
		24,
	),
	/** Days that raw clicks are kept, and click-level reports reach back. Sums stay for good. */
	CLICK_RETENTION_DAYS: v.optional(
		v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.number("must be a number"), v.minValue(30), v.maxValue(3650)),
		400,
	),
	/** True allows callback addresses that are not https or not public: for local work and tests only. */
	ALLOW_INSECURE_CALLBACKS: v.optional(
		v.pipe(
			v.union([v.boolean(), v.picklist(["true", "false", "1", "0", ""], "must be true or false")]),
			v.transform((value) => value === true || value === "true" || value === "1"),
		),
		false,
	),
	/** Comma-separated secrets for click tokens, newest first: the first mints, all open. At least 32 characters each. */
	TOKEN_KEYS: v.pipe(
		v.string("must be set"),
		v.transform((text) =>
			text
				.split(",")
				.map((key) => key.trim())
				.filter((key) => key !== ""),
		),
		v.minLength(1, "must hold at least one key"),
		v.everyItem((key) => key.length >= 32, "every key must have at least 32 characters"),
	),
	/** Secret of the operator's endpoints; without it they do not exist. */
	OPERATOR_KEY: v.optional(v.pipe(v.string(), v.minLength(16, "must have at least 16 characters"))),
});

export type Config = v.InferOutput<typeof configSchema>;

const checked = new WeakMap<Env, Config>();

/**
 * The checked configuration of this Worker; checked once an isolate.
 * @throws Error that names every variable at fault, never its value
 */
export function readConfig(env: Env): Config {
	const known = checked.get(env);
	if (known !== undefined) return known;
	const result = v.safeParse(configSchema, { ...pick(env) });
	if (!result.success) {
		const faults = result.issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`);
		throw new Error(`Configuration: ${faults.join("; ")}`);
	}
	checked.set(env, result.output);
	return result.output;
}

/** Secrets and variables only: bindings are objects of the runtime and cannot be spread. */
function pick(env: Env): Record<string, unknown> {
	const { RTB_URL, CLICK_URL, TRACKER_URL, BASE_URL, SNAPSHOT_TTL_SECONDS, CLICK_TTL_HOURS, ALLOW_INSECURE_CALLBACKS } = env;
	return {
		RTB_URL,
		CLICK_URL,
		TRACKER_URL,
		BASE_URL,
		SNAPSHOT_TTL_SECONDS,
		CLICK_TTL_HOURS,
		ALLOW_INSECURE_CALLBACKS,
		TOKEN_KEYS: env.TOKEN_KEYS,
		OPERATOR_KEY: env.OPERATOR_KEY || undefined,
	};
}
