/**
 * Queries made to cost much, of the Serving Engine and of click URLs: of each kind the worst that fits into a URL. The `plain` ones are
 * what others are compared with.
 */
import { domainOf, KEYWORD } from "./hostile-bodies.ts";
import { consentOfRanges, consentOfSegments, gppOfAllSections } from "./hostile-consents.ts";

/** Cloudflare takes no longer URL. */
const MAX_URL_CHARACTERS = 16 * 1_024;
/** Host and path before a query. */
const HEAD_CHARACTERS = 100;
/** Cloudflare takes no more of headers, all together. */
const MAX_HEADER_CHARACTERS = 127 * 1_024;

const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";

export const HOSTILE_PATHS = { serving_engine: "/serving-engine", click: "/click" } as const;

export type HostileQuery = {
	path: (typeof HOSTILE_PATHS)[keyof typeof HOSTILE_PATHS];
	/** Without its question mark. */
	search: string;
	headers: Record<string, string>;
};

type Kind = (base: string) => string | Pick<HostileQuery, "search" | "headers">;

const PLAIN_QUERY = `pubi=1001&bd=${domainOf(0)}&cc=US&clickid=click-7&subid=site-9&ip=203.0.113.7&ua=${encodeURIComponent(BROWSER)}`;

/** As often as there is room behind `base`. */
function fill(base: string, unit: (at: number) => string): string {
	const parts = [base];
	let room = MAX_URL_CHARACTERS - HEAD_CHARACTERS - base.length;
	for (let at = 0; room > 0; at++) {
		const one = unit(at);
		room -= one.length;
		if (room >= 0) parts.push(one);
	}
	return parts.join("");
}

/** What costs at any query: `base` is one that is answered. */
const ANY: Readonly<Record<string, Kind>> = {
	parameters: (base) => fill(base, () => "&a=b"),
	parameters_of_one_character: (base) => fill(base, () => "&a"),
	ampersands: (base) => fill(base, () => "&"),
	equals_signs: (base) => fill(`${base}&a`, () => "="),
	different_names: (base) => fill(base, (at) => `&n${at}=1`),
	escaped_names: (base) => fill(base, () => "&%61=b"),
	plus_names: (base) => fill(base, () => "&+"),
	broken_escaped_names: (base) => fill(base, () => "&%"),
	truncated_names: (base) => fill(base, () => "&%C3"),
	many_broken_names: (base) => fill(base, () => "&%zz=%"),
	escaped_first: (base) =>
		fill("", () => "&%62d=x")
			.slice(0, MAX_URL_CHARACTERS - HEAD_CHARACTERS - base.length)
			.concat("&", base),
	repeated_names: (base) => fill(base, () => "&dl=x&cc=DE"),
	lists: (base) => fill(base, () => "&bd[]=x"),
	one_long_name: (base) => fill(`${base}&`, () => "n"),
	/** Of the names with an escape, the last tells. */
	escape_at_the_end: (base) => `${fill(base, () => "&a=b").slice(0, -5)}&%61`,
};

/** Different strings of a kind, as many as are read. */
function consents(make: (mark: number) => string, name: string, count: number): Kind {
	return (base) => {
		const room = Math.floor((MAX_URL_CHARACTERS - HEAD_CHARACTERS - base.length) / count) - name.length - 2;
		const sent = Array.from({ length: count }, (_, mark) => `&${name}=${make(mark).slice(0, room)}`);
		return `${base}&gdpr=1${sent.join("")}`.slice(0, MAX_URL_CHARACTERS - HEAD_CHARACTERS);
	};
}

/** Privacy signals, which both endpoints read. */
const SIGNALS: Readonly<Record<string, Kind>> = {
	consent_of_ranges: consents(consentOfRanges, "gdpr_consent", 1),
	consents_of_ranges: consents(consentOfRanges, "gdpr_consent", 4),
	consents_of_segments: consents(consentOfSegments, "gdpr_consent", 4),
	gpp_all_sections: consents(gppOfAllSections, "gpp", 1),
	gpps_short: (base) => `${base}${[0, 1, 2, 3].map((mark) => `&gpp=${shortGpp(mark)}`).join("")}`,
	gpp_sid: (base) => fill(`${base}&gpp=DBAA&gpp_sid=-1`, () => ",-1"),
	repeated_consents: (base) => fill(base, (at) => `&gdpr_consent=C${at}`),
	repeated_flags: (base) => fill(base, () => "&gdpr=0"),
	unfilled_macros: (base) => fill(base, () => `&us_privacy=$%7BUS_PRIVACY%7D`),
};

/** All sections, with a segment each. */
function shortGpp(mark: number): string {
	return gppOfAllSections(mark).replaceAll(/(\.A)+/g, ".A");
}

/** A value that both endpoints read, made long of one unit. */
function longValue(name: string, unit: string): Kind {
	return (base) => fill(`${base}&${name}=`, () => unit);
}

/** The same parameter in place of the base's own. */
function replaced(name: string, unit: string): Kind {
	return (base) => {
		const rest = base
			.split("&")
			.filter((parameter) => !parameter.startsWith(`${name}=`))
			.join("&");
		return fill(`${rest}&${name}=`, () => unit);
	};
}

function longValues(names: readonly string[], units: Readonly<Record<string, string>>): Record<string, Kind> {
	return Object.fromEntries(
		names.flatMap((name) => Object.entries(units).map(([kind, unit]) => [`${name}_${kind}`, replaced(name, unit)] as const)),
	);
}

const UNITS = { escaped: "%78", script: "%C3%BC", broken: "%", truncated: "%C3", pluses: "+", blanks: "a+%E3%80%80", labels: "a." };

const SERVING_ENGINE: Readonly<Record<string, Kind>> = {
	...ANY,
	...SIGNALS,
	...longValues(["bd", "dl", "clickid", "ua", "fbid"], UNITS),
	shared_keyword: () => `pubi=1001&bd=none.example&cc=US&kw=${KEYWORD}`,
	keyword_marks: replacedKeyword("%CC%81%CC%96"),
	keyword_marks_bounded: () => `pubi=1001&bd=none.example&cc=US&kw=a${"%CC%81%CC%96".repeat(511)}`,
	keyword_expands: () => `pubi=1001&bd=none.example&cc=US&kw=${"%EF%B7%BA".repeat(1_024)}`,
	keyword_blanks: replacedKeyword("a+%E3%80%80"),
	keyword_broken: replacedKeyword("%zz"),
	deeplink_address: longDeeplink("%C3%BC"),
	deeplink_blanks: longDeeplink("+"),
	floor_digits: longValue("fbid", "1"),
	domain_scripts: () => `pubi=1001&cc=US&bd=${"b%C3%BCcher.".repeat(30)}example`,
};

const CLICK: Readonly<Record<string, Kind>> = {
	...ANY,
	...SIGNALS,
	...longValues(["dl", "clickid", "subi"], UNITS),
	global_privacy_control: header("sec-gpc", "1 "),
	texts_all_long: (base) => {
		const names = ["clickid", "subi", "psorc", "pcat", "subid1", "subid2", "subid3", "subid4", "subid5", "uid", "atag"];
		return `${base}&${names.map((name) => `${name}=${"%C3%BC".repeat(200)}`).join("&")}`;
	},
	texts_of_controls: (base) => {
		const names = ["subi", "psorc", "pcat", "subid1", "subid2", "subid3", "subid4", "subid5"];
		return `${base}&${names.map((name) => `${name}=${"x%01".repeat(127)}`).join("&")}`;
	},
	deeplink_template: (base) => fill(`${base}&dl=https://${domainOf(0)}/`, () => "%7B"),
	token_junk: () => fill("encyp=", () => "A"),
	token_escaped: () => fill("encyp=", () => "%41"),
	token_other_salt: () => `encyp=AQ${"A".repeat(200)}`,
	token_broken: () => fill("encyp=", () => "%"),
	user_agent_long: header("user-agent", "x"),
	user_agent_words: header("user-agent", "bo t/"),
	user_agent_versions: header("user-agent", "Chrome/1.0 (compatible; "),
	purposes: header("sec-purpose", "pre fetch;"),
	address_long: header("cf-connecting-ip", "1."),
	address_groups: header("cf-connecting-ip", "1:"),
};

function replacedKeyword(unit: string): Kind {
	return () => fill("pubi=1001&bd=none.example&cc=US&kw=", () => unit);
}

function longDeeplink(unit: string): Kind {
	return (base) => fill(`${base}&dl=https://${domainOf(0)}/`, () => unit);
}

function header(name: string, unit: string): Kind {
	return (search) => ({ search, headers: { [name]: unit.repeat(Math.floor(MAX_HEADER_CHARACTERS / unit.length)).trim() } });
}

/**
 * The queries by the endpoint's name and kind, `plain` first of each.
 * @param clickSearch the query of a click URL that leads somewhere
 */
export function makeQueries(clickSearch: string): Record<keyof typeof HOSTILE_PATHS, Map<string, HostileQuery>> {
	const make = (path: HostileQuery["path"], base: string, kinds: Readonly<Record<string, Kind>>) => {
		const usual = { "user-agent": BROWSER, "cf-connecting-ip": "203.0.113.7" };
		const queries = new Map<string, HostileQuery>([["plain", { path, search: base, headers: usual }]]);
		for (const [kind, of] of Object.entries(kinds)) {
			const made = of(base);
			const { search, headers } = typeof made === "string" ? { search: made, headers: {} } : made;
			queries.set(kind, { path, search, headers: { ...usual, ...headers } });
		}
		return queries;
	};
	return {
		serving_engine: make(HOSTILE_PATHS.serving_engine, PLAIN_QUERY, SERVING_ENGINE),
		click: make(HOSTILE_PATHS.click, clickSearch, CLICK),
	};
}
