/** The variables and secrets of a Worker, checked. Knows nothing of the runtime, so that commands can check them too. */
import * as v from "valibot";

/** As browsers write it, since it is compared with what they send: its host in small letters, no port that is the scheme's own. */
const origin = v.pipe(
	v.string("must be set"),
	v.check((text) => /^https?:\/\/[^/?#]+\/?$/.test(text) && URL.canParse(text), "must be an http(s) origin such as https://click.example"),
	v.transform((text) => new URL(text).origin),
);

/** A variable is text, as wrangler.toml and the environment have it. */
function numberFrom(least: number, most: number) {
	const fault = `must be a number from ${least} to ${most}`;
	return v.pipe(
		v.union([v.string(), v.number()], fault),
		v.transform(Number),
		v.number(fault),
		v.minValue(least, fault),
		v.maxValue(most, fault),
	);
}

const BOOK_FORMAT_FAULT = "must be 1 or 2";
const TOKEN_VERSION_FAULT = "must be 1 or 4";

const configSchema = v.object({
	/** Host of the real-time ad endpoints. */
	RTB_URL: origin,
	/** Click tracker that redirect links of bids point at. */
	CLICK_URL: origin,
	/** Host inside brand tracking links. */
	TRACKER_URL: origin,
	/** Host of the catalogue, reports, products and postbacks. */
	BASE_URL: origin,
	/** The one host that `/console` answers on; BASE_URL where it says nothing. */
	CONSOLE_URL: v.optional(origin),
	/** Age in seconds from which an isolate reads the campaign book's manifest again, in the background. */
	SNAPSHOT_TTL_SECONDS: v.optional(numberFrom(1, 3600), 15),
	/** Format in which the origin publishes the campaign book; every isolate reads both. */
	BOOK_FORMAT: v.optional(
		v.pipe(v.union([v.string(), v.number()], BOOK_FORMAT_FAULT), v.transform(Number), v.picklist([1, 2], BOOK_FORMAT_FAULT)),
		1,
	),
	/** Memory that an isolate takes for the campaign book, MiB; what is past it is read when it is asked for. */
	BOOK_MEMORY_MIB: v.optional(numberFrom(1, 96), 44),
	/** Age in hours from which the click URL of an auction still redirects but no longer counts. Tracking links do not age. */
	CLICK_TTL_HOURS: v.optional(numberFrom(1, 8760), 24),
	/** The operator's vendor id in IAB's Global Vendor List; without it consents are asked for purposes alone. */
	GVL_VENDOR_ID: v.optional(v.pipe(numberFrom(1, 65_535), v.integer("must be a whole number"))),
	/** Which database is the network's where both are bound, as for a move; PostgreSQL where it says nothing. */
	NETWORK_DATABASE: v.optional(v.picklist(["d1", "postgres"], "must be d1 or postgres")),
	/** Days that raw clicks are kept, and click-level reports reach back. Sums stay for good. */
	CLICK_RETENTION_DAYS: v.optional(numberFrom(30, 3650), 400),
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
	/** Version of the click tokens that bids mint; the click tracker opens all. */
	TOKEN_VERSION: v.optional(
		v.pipe(v.union([v.string(), v.number()], TOKEN_VERSION_FAULT), v.transform(Number), v.picklist([1, 4], TOKEN_VERSION_FAULT)),
		1,
	),
	/** An admin's secret for the operator's endpoints; without it they exist for holders of operator keys alone. */
	OPERATOR_KEY: v.optional(v.pipe(v.string(), v.minLength(16, "must have at least 16 characters"))),
	/** Team and application of Cloudflare Access, by which staff may sign in to the console; without them it may not. */
	ACCESS_TEAM: v.optional(v.pipe(v.string(), v.regex(/^[a-zA-Z0-9-]+$/, "must be the name before .cloudflareaccess.com"))),
	ACCESS_AUD: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "must be the application's AUD tag, 64 hexadecimal digits"))),
});

const checkedSchema = v.pipe(
	configSchema,
	v.forward(
		v.check(({ ACCESS_TEAM, ACCESS_AUD }) => (ACCESS_TEAM === undefined) === (ACCESS_AUD === undefined), "and ACCESS_TEAM need each other"),
		["ACCESS_AUD"],
	),
);

/** What is set to nothing is not set. */
const MAY_BE_EMPTY = ["CONSOLE_URL", "GVL_VENDOR_ID", "OPERATOR_KEY", "ACCESS_TEAM", "ACCESS_AUD"] as const;

export type Config = v.InferOutput<typeof configSchema>;

/**
 * Checks the variables that a Worker was given; what the schema does not name is not looked at.
 * @throws Error that names every variable at fault, never its value
 */
export function checkVariables(given: Readonly<Record<string, unknown>>): Config {
	const named = Object.keys(configSchema.entries).map((name) => [name, given[name]]);
	return check(checkedSchema, { ...Object.fromEntries(named), ...unlessEmpty(given, MAY_BE_EMPTY) });
}

/** Whole base64, padded or not: of one that was cut off no alert could be signed, and none would be sent. */
const WEBHOOK_SECRET =
	/^whsec_(?:[A-Za-z0-9+/]{4}){8}(?:(?:[A-Za-z0-9+/]{4}){0,13}(?:[A-Za-z0-9+/]{2}(?:==)?)?|(?:[A-Za-z0-9+/]{4}){0,12}[A-Za-z0-9+/]{3}=?)$/;

const alertSchema = v.object({
	/** Where problems that begin and end are told (docs/operations/monitoring.md); without it nowhere. */
	ALERT_URL: v.optional(
		v.pipe(
			v.string(),
			v.check((text) => /^https?:\/\//.test(text) && URL.canParse(text), "must be an http(s) address"),
		),
	),
	/** Secret that signs them. One of the two may be set before the other. */
	ALERT_SECRET: v.optional(v.pipe(v.string(), v.regex(WEBHOOK_SECRET, "must be whsec_ and 24 to 64 bytes in base64"))),
});

export type AlertSettings = v.InferOutput<typeof alertSchema>;

/** Checks by themselves where alerts go: what is wrong with that holds up alerts, and nothing else. @throws Error as {@link checkVariables} */
export function checkAlertSettings(given: Readonly<Record<string, unknown>>): AlertSettings {
	return check(alertSchema, unlessEmpty(given, ["ALERT_URL", "ALERT_SECRET"]));
}

function unlessEmpty(given: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(names.map((name) => [name, given[name] || undefined]));
}

function check<Output>(schema: v.GenericSchema<unknown, Output>, given: Readonly<Record<string, unknown>>): Output {
	const result = v.safeParse(schema, given);
	if (result.success) return result.output;
	const faults = result.issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`);
	throw new Error(`Configuration: ${faults.join("; ")}`);
}
