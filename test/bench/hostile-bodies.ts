/**
 * Bid requests made to cost much: of each kind the worst that fits into the body's cap. `plain` is what others are compared with; all of
 * them ask for the keyword that every brand of the book has, or for one of its domains.
 */
import { MAX_ADDRESSES, MAX_PARSED_ENTRIES } from "../../src/bidding/blocked-hosts.ts";
import { MAX_KEYWORDS, MAX_KEYWORDS_LENGTH } from "../../src/lib/keyword.ts";
import { MAX_BODY_BYTES, MAX_UNCOUNTED_BYTES, MAX_VALUES } from "../../src/openrtb/body-limits.ts";
import { ESCAPES_A_VALUE } from "../../src/openrtb/count-values.ts";
import { MAX_LIST_ENTRIES } from "../../src/openrtb/read-values.ts";
import {
	consentOfRanges,
	consentOfSegments,
	GPP_SECTIONS,
	gppOfAllSections,
	gppOfCanada,
	gppOfUnknownSections,
} from "./hostile-consents.ts";

/** Brands that share the keyword. */
export const BRANDS = 2_000;
export const KEYWORD = "boots";
export const domainOf = (at: number) => `shop-${at}.example`;

const PLAIN = {
	id: "auction-1",
	imp: [{ id: "1", tagid: "placement-9", bidfloor: 0.05, bidfloorcur: "USD" }],
	site: { domain: domainOf(0), page: "https://news.example/article", publisher: { id: "click-7" } },
	device: { ip: "203.0.113.7", ua: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0.0.0", geo: { country: "USA" } },
	user: { id: "user-3", buyeruid: "buyer-4" },
	badv: ["rival.example"],
	cur: ["USD"],
	tmax: 200,
};
/** Asks for the keyword that all brands share. */
const SHARED = { ...PLAIN, site: { search: KEYWORD } };

/** What the publisher with every option takes. */
const WITH_CHAIN = { ...PLAIN, source: { schain: { ver: "1.0", complete: 1, nodes: [{ asi: "ssp.example", sid: "p-109", hp: 1 }] } } };
/** Bodies whose kinds begin with this are sent to that publisher. */
export const OPTIONS_PREFIX = "options_";

const text = (body: unknown) => JSON.stringify(body);

/** As many entries of a list as the cap lets in, `most` at the most. */
function fill(make: (entries: readonly unknown[]) => unknown, entry: (at: number) => unknown, most = Number.POSITIVE_INFINITY): string {
	const entries: unknown[] = [];
	let room = MAX_BODY_BYTES - text(make([])).length;
	for (let at = 0; at < most; at++) {
		const one = entry(at);
		room -= new TextEncoder().encode(text(one)).length + 1;
		if (room < 0) break;
		entries.push(one);
	}
	return text(make(entries));
}

/** A request with a text at `make` that fills the cap. */
function fillText(make: (filler: string) => unknown, unit: string): string {
	const room = MAX_BODY_BYTES - text(make("")).length;
	return text(make(unit.repeat(Math.floor(room / (new TextEncoder().encode(text(unit)).length - 2)))));
}

/**
 * A request with raw JSON in a field that nobody reads: as much as is let in, of so many names and values a unit, `maxBytes` at the most.
 */
function fillRaw(unit: (at: number) => string, open: string, close: string, values: number, maxBytes = MAX_BODY_BYTES): string {
	const head = `${text(SHARED).slice(0, -1)},"ext":${open}`;
	const most = maxBytes > MAX_UNCOUNTED_BYTES && values > 0 ? Math.floor((MAX_VALUES - 50) / values) : Number.POSITIVE_INFINITY;
	const parts: string[] = [];
	let room = maxBytes - head.length - close.length - 1;
	for (let at = 0; at < most; at++) {
		const one = unit(at);
		room -= one.length;
		if (room < 0) break;
		parts.push(one);
	}
	return `${head}${parts.join("")}${close}}`;
}

const comma = (at: number) => (at === 0 ? "" : ",");

/** A request with a field that nests as deep as is let in, or one too long to be counted. */
function nested(open: (at: number) => string, innermost: string, close: string, values: number, maxBytes = MAX_BODY_BYTES): string {
	const head = `${text(SHARED).slice(0, -1)},"ext":`;
	// Deep down an opening bracket counts as four.
	const most = maxBytes > MAX_UNCOUNTED_BYTES ? Math.floor((MAX_VALUES - 50) / (values + 3)) : Number.POSITIVE_INFINITY;
	const opened: string[] = [];
	let room = maxBytes - head.length - innermost.length - 1;
	for (let at = 0; at < most; at++) {
		room -= open(at).length + close.length;
		if (room < 0) break;
		opened.push(open(at));
	}
	return `${head}${opened.join("")}${innermost}${close.repeat(opened.length)}}`;
}

const keywords = (keyword: (at: number) => string, count = MAX_KEYWORDS) => Array.from({ length: count }, (_, at) => keyword(at)).join(",");

const KINDS: Readonly<Record<string, () => string>> = {
	/** What the issue found: entries that only the URL parser can refuse. */
	badv_junk: () =>
		fill(
			(badv) => ({ ...SHARED, badv }),
			() => "b c",
		),
	badv_junk_bounded: () =>
		fill(
			(badv) => ({ ...SHARED, badv }),
			() => "b c",
			MAX_PARSED_ENTRIES,
		),
	badv_hosts: () =>
		fill(
			(badv) => ({ ...SHARED, badv }),
			(at) => `rival-${at}.example`,
			MAX_LIST_ENTRIES,
		),
	badv_urls: () =>
		fill(
			(badv) => ({ ...SHARED, badv }),
			(at) => `https://www.rival-${at}.example/a?b=c`,
			MAX_ADDRESSES,
		),
	badv_long_urls: () =>
		fill(
			(badv) => ({ ...SHARED, badv }),
			(at) => `https://rival-${at}.example/${"ä".repeat(500)}`,
			MAX_PARSED_ENTRIES,
		),
	badv_scripts: () =>
		fill(
			(badv) => ({ ...SHARED, badv }),
			(at) => `bücher-${at}.${"ß".repeat(60)}.example`,
			MAX_PARSED_ENTRIES,
		),
	badv_blocks_all: () => fill((badv) => ({ ...SHARED, badv }), domainOf, MAX_LIST_ENTRIES),
	shared_keyword: () => text(SHARED),
	shared_keyword_floor: () => text({ ...SHARED, imp: [{ id: "1", bidfloor: 900 }] }),
	shared_keyword_deeplink: () => text({ ...SHARED, imp: [{ id: "1", ext: { deeplink: "https://elsewhere.example/p" } }] }),
	deep_nesting: () => nested(() => '{"a":', "1", "}", 2),
	deep_lists: () => nested(() => "[", "", "]", 1),
	deep_lists_uncounted: () => nested(() => "[", "", "]", 1, MAX_UNCOUNTED_BYTES),
	/** Objects of which no two are alike. */
	deep_shapes: () => nested((at) => `{"k${at}":`, "1", "}", 2),
	deep_shapes_uncounted: () => nested((at) => `{"k${at}":`, "1", "}", 2, MAX_UNCOUNTED_BYTES),
	many_shapes: () => fillRaw((at) => `${comma(at)}{"k${at}":0}`, "[", "]", 3),
	many_shapes_uncounted: () => fillRaw((at) => `${comma(at)}{"k${at}":0}`, "[", "]", 3, MAX_UNCOUNTED_BYTES),
	small_objects: () => fillRaw((at) => `${comma(at)}{"a":1}`, "[", "]", 3),
	empty_objects: () => fillRaw((at) => `${comma(at)}{}`, "[", "]", 2),
	many_members: () => fillRaw((at) => `${comma(at)}"k${at}":0`, "{", "}", 2),
	long_names: () => fillRaw((at) => `${comma(at)}"${"k".repeat(40)}${at}":0`, "{", "}", 2),
	short_texts: () => fillRaw((at) => `${comma(at)}"t${at}"`, "[", "]", 1),
	long_number: () => fillRaw(() => "9", "[0.", "]", 0),
	/** Refused only when they have been counted to their end. */
	too_many_at_the_end: () =>
		`${fillRaw(() => "x", '["', '"', 0, MAX_BODY_BYTES - 2 * MAX_VALUES - 4).slice(0, -1)}${",1".repeat(MAX_VALUES + 1)}]}`,
	/** As many values as are let in, and as long a text. */
	shapes_and_text: () => shapesBeside("", 3),
	/** Half of the values, and as many escapes as are then let in. */
	shapes_and_escapes: () => shapesBeside("\\n".repeat((MAX_VALUES / 2 - 100) * ESCAPES_A_VALUE), 6),
	/** The same with a quarter of the values. */
	escapes_and_shapes: () => shapesBeside("\\n".repeat(((MAX_VALUES * 3) / 4 - 100) * ESCAPES_A_VALUE), 12),
	many_impressions: () =>
		fill(
			(imp) => ({ ...SHARED, imp }),
			() => ({ id: "1" }),
			Math.floor((MAX_VALUES - 50) / 3),
		),
	numbers: () => fillRaw((at) => `${comma(at)}1e-300`, "[", "]", 1),
	keyword_marks: () => fillText((search) => ({ ...PLAIN, site: { search } }), "\u0301\u0316"),
	keyword_marks_bounded: () => text({ ...PLAIN, site: { search: `a${"\u0301\u0316".repeat(511)}` } }),
	/** Lists of as many keywords as are read: each is asked for, and one of them is every brand's. */
	keywords_unknown: () => text({ ...PLAIN, site: {}, user: { keywords: keywords((at) => `Word ${at}`) } }),
	keywords_shared: () => text({ ...PLAIN, site: {}, user: { keywords: keywords((at) => (at === 0 ? KEYWORD : `word ${at}`)) } }),
	keywords_blocked: () =>
		fill(
			(badv) => ({ ...PLAIN, site: {}, user: { keywords: keywords((at) => (at === 0 ? KEYWORD : `word ${at}`)) }, badv }),
			domainOf,
			MAX_LIST_ENTRIES,
		),
	keywords_marks: () => {
		const marks = "\u0301\u0316".repeat(120);
		return text({ ...PLAIN, user: { keywords: keywords((at) => `a${at}${marks}`, Math.floor(MAX_KEYWORDS_LENGTH / 245)) } });
	},
	keyword_expands: () => text({ ...PLAIN, site: { search: "\ufdfa".repeat(1_024) } }),
	keyword_blanks: () => fillText((search) => ({ ...PLAIN, site: { search } }), "a \u3000"),
	wseat: () =>
		fill(
			(wseat) => ({ ...SHARED, wseat }),
			(at) => `seat-${at}`,
			MAX_LIST_ENTRIES,
		),
	bseat: () =>
		fill(
			(bseat) => ({ ...SHARED, bseat }),
			(at) => `seat-${at}`,
			MAX_LIST_ENTRIES,
		),
	cur: () =>
		fill(
			(cur) => ({ ...SHARED, cur }),
			() => " eur ",
			MAX_LIST_ENTRIES,
		),
	all_lists: () => {
		const list = (entry: string) => Array.from({ length: Math.floor((MAX_VALUES - 50) / 4) }, (_, at) => `${entry}${at}`);
		return text({ ...SHARED, badv: list("r.ex"), bseat: list("s"), wseat: [...list("s"), "acme-seat"], cur: [...list("c"), "USD"] });
	},
	huge_request_id: () => fillText((id) => ({ ...PLAIN, id }), "x"),
	huge_ids: () => fillText((id) => ({ ...PLAIN, id, imp: [{ id: "1", tagid: "y" }] }), '"xxx'),
	huge_click_id: () => fillText((id) => ({ ...PLAIN, site: { ...PLAIN.site, publisher: { id } } }), "é"),
	huge_domain: () => fillText((domain) => ({ ...PLAIN, site: { domain } }), "a."),
	huge_domain_script: () => fillText((domain) => ({ ...PLAIN, site: { domain } }), "ü"),
	huge_domain_blanks: () => fillText((domain) => ({ ...PLAIN, site: { domain } }), "a "),
	huge_address: () => fillText((rest) => ({ ...PLAIN, site: { domain: `https://${domainOf(0)}/${rest}` } }), "ü"),
	many_labels: () => text({ ...PLAIN, site: { domain: `${"a.".repeat(120)}example` } }),
	huge_page: () => fillText((page) => ({ ...PLAIN, site: { ...PLAIN.site, page } }), "https://a b/"),
	huge_page_blanks: () => fillText((page) => ({ ...PLAIN, site: { ...PLAIN.site, page } }), "a "),
	huge_deeplink: () => fillText((deeplink) => ({ ...SHARED, ext: { deeplink } }), "https://ü b/"),
	huge_user_agent: () => fillText((ua) => ({ ...PLAIN, device: { ua, ip: "203.0.113.7" } }), "ü"),
	huge_ip: () => fillText((ip) => ({ ...PLAIN, device: { ua: "x", ip } }), "1."),
	floor_digits: () => fillText((bidfloor) => ({ ...PLAIN, imp: [{ id: "1", bidfloor }] }), "1"),
	blanks: () => fillText((search) => ({ ...PLAIN, site: { ...PLAIN.site, search } }), " "),
	escapes: () => fillRaw(() => "\\u0041", '"', '"', 0),
	escaped_newlines: () => fillRaw((at) => (at < (MAX_VALUES - 50) * ESCAPES_A_VALUE ? "\\n" : "xx"), '"', '"', 0),
	not_json: () => "[".repeat(MAX_BODY_BYTES),
	/** Privacy signals: two different strings of a kind have a place each. */
	consents_of_ranges: () => consents(consentOfRanges),
	consents_of_segments: () => consents(consentOfSegments),
	consent_too_long: () => fillText((consent) => ({ ...PLAIN, regs: { gdpr: 1 }, user: { consent } }), "C"),
	consent_blanks: () => fillText((consent) => ({ ...PLAIN, regs: { gdpr: 1 }, user: { consent } }), " "),
	consent_dots: () => text({ ...PLAIN, regs: { gdpr: 1 }, user: { consent: `${consentOfSegments(0).slice(0, 200)}${".".repeat(7_900)}` } }),
	gpp_all_sections: () => gpp(gppOfAllSections, undefined),
	gpp_sections_named: () => gpp(gppOfAllSections, GPP_SECTIONS),
	gpp_of_canada: () => gpp(gppOfCanada, undefined),
	gpp_unknown_sections: () => gpp(gppOfUnknownSections, undefined),
	gpp_tildes: () => text({ ...PLAIN, regs: { gpp: "~".repeat(8_000) } }),
	gpp_sid_list: () => text({ ...PLAIN, regs: { gpp: "DBAA", gpp_sid: Array(4_000).fill(-1) } }),
	gpp_sid_text: () => fillText((gpp_sid) => ({ ...PLAIN, regs: { gpp: "DBAA", gpp_sid } }), "1,"),
	us_privacy_long: () => fillText((us_privacy) => ({ ...PLAIN, regs: { us_privacy } }), "1YNN"),
	signals_all_at_once: () =>
		text({
			...PLAIN,
			regs: {
				coppa: 0,
				gdpr: 1,
				us_privacy: "1YNN",
				gpp: gppOfAllSections(0),
				gpp_sid: [...GPP_SECTIONS, 2],
				ext: { gdpr: 1, us_privacy: "1---", gpp: gppOfAllSections(1), gpp_sid: GPP_SECTIONS.join("_") },
			},
			user: { consent: consentOfRanges(0), ext: { consent: consentOfSegments(1) } },
			device: { lmt: 0, dnt: 0, ip: "203.0.113.7" },
		}),
	signals_nested: () => `${text(PLAIN).slice(0, -1)},"regs":{"ext":${"[".repeat(2_000)}${"]".repeat(2_000)}}}`,
	/** Sent to a publisher with every option. */
	options_plain: () => text(WITH_CHAIN),
	options_kwarray: () => text({ ...WITH_CHAIN, site: {}, user: { kwarray: keywordsOf((at) => (at === 0 ? KEYWORD : `word ${at}`)) } }),
	options_kwarray_too_many: () => text({ ...WITH_CHAIN, site: {}, user: { kwarray: Array(MAX_LIST_ENTRIES).fill("a,b") } }),
	options_kwarray_lists: () =>
		text({ ...WITH_CHAIN, site: { kwarray: Array(MAX_LIST_ENTRIES / 2).fill(",") }, user: { kwarray: Array(MAX_LIST_ENTRIES).fill("Ä") } }),
	options_bcat: () => text({ ...WITH_CHAIN, site: { search: KEYWORD }, bcat: categories((at) => `IAB${at + 100}-1`) }),
	options_bcat_blocks_all: () =>
		text({ ...WITH_CHAIN, site: { search: KEYWORD }, bcat: [...categories((at) => `IAB${at + 100}`), "IAB22"] }),
	options_acat_none: () =>
		text({
			...WITH_CHAIN,
			site: { search: KEYWORD },
			acat: categories((at) => `iab${at + 100}`).slice(0, MAX_LIST_ENTRIES / 2),
			bcat: categories((at) => `IAB${at + 5_000}`).slice(0, MAX_LIST_ENTRIES / 2),
		}),
	options_schain_long: () =>
		text({ ...PLAIN, source: { schain: chain(100, () => "ssp.example"), ext: { schain: chain(100, () => "ssp.example") } } }),
	options_schain_urls: () => text({ ...PLAIN, source: { schain: chain(100, (at) => `https://bücher-${at}.${"ß".repeat(60)}.example/`) } }),
	options_schain_too_long: () => text({ ...PLAIN, source: { schain: chain(1_400, () => "ssp.example") } }),
	options_schain_wide_node: () => fillText((asi) => ({ ...PLAIN, source: { schain: { complete: 1, nodes: [{ asi, sid: "1" }] } } }), "ü."),
	options_user_agent: () => fillText((ua) => ({ ...WITH_CHAIN, device: { ua } }), "bo t/"),
};

/**
 * Objects of which no two are alike, and a text that fills the cap. @param text it begins with this
 * @param values for how many each object counts
 */
function shapesBeside(text: string, values: number): string {
	const shapes = fillRaw((at) => `${comma(at)}{"k${at}":0}`, "[", "]", values).slice(0, -1);
	return `${shapes},"x":"${text.padEnd(MAX_BODY_BYTES - shapes.length - 10, "x")}"}`;
}

/** Two strings where the GDPR applies. */
function consents(make: (mark: number) => string): string {
	return text({ ...PLAIN, regs: { gdpr: 1 }, user: { ...PLAIN.user, consent: make(0), ext: { consent: make(1) } } });
}

function gpp(make: (mark: number) => string, gpp_sid: readonly number[] | undefined): string {
	return text({ ...PLAIN, regs: { gpp: make(0), gpp_sid, ext: { gpp: make(1), gpp_sid } } });
}

function chain(nodes: number, asi: (at: number) => string): unknown {
	return { ver: "1.0", complete: 1, nodes: Array.from({ length: nodes }, (_, at) => ({ asi: asi(at), sid: "p-109", hp: 1 })) };
}

function keywordsOf(keyword: (at: number) => string): string[] {
	return Array.from({ length: MAX_KEYWORDS }, (_, at) => keyword(at));
}

/** As long a list as is read, of two that the body's values have room for. */
function categories(name: (at: number) => string): string[] {
	return Array.from({ length: MAX_LIST_ENTRIES - 1 }, (_, at) => name(at));
}

/** Kinds that are sent as gzip, a thousandth of their size. */
const ZIPPED = ["badv_junk", "small_objects", "escapes", "blanks"] as const;

/** The bodies by kind; `plain` first. */
export async function makeBodies(): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
	const encode = (body: string) => new Uint8Array(new TextEncoder().encode(body));
	const bodies = new Map([["plain", encode(text(PLAIN))]]);
	for (const [kind, make] of Object.entries(KINDS)) bodies.set(kind, encode(make()));
	for (const kind of ZIPPED) bodies.set(`gzip_${kind}`, await zip(bodies.get(kind) ?? new Uint8Array()));
	bodies.set("gzip_too_large", await zip(new Uint8Array(64 * 1024 * 1024)));
	return bodies;
}

async function zip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
	return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer());
}
