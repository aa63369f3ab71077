import { type CALLBACK_MACROS, CALLBACK_PARAMETERS, macrosOf, replaceMacros } from "../lib/callback-url.ts";
import type { CallbackStatus } from "../lib/enums.ts";
import { ownOf } from "../lib/json.ts";
import { formatUsd } from "../lib/money.ts";
import { isoTime } from "../lib/time.ts";

/** What a publisher is told of a conversion. */
export type CallbackFacts = {
	/** The callback's. */
	id: string;
	txnid: string;
	/** The publisher's own click id; empty where the click had none. */
	cid: string;
	/** Publisher revenue, micro-dollars. */
	payoutMicros: number;
	status: CallbackStatus;
	/** When the conversion happened, Unix milliseconds. */
	eventAt: number;
	/** Micro-dollars; null where none were told, or the publisher does not see them. */
	salesUsdMicros: number | null;
	/** The brand's. */
	domain: string | null;
	/** What the publisher's link brought. */
	source: string | null;
	subid1: string | null;
	subid2: string | null;
	subid3: string | null;
	subid4: string | null;
	subid5: string | null;
};

/** Of a callback about which no more is known than the five parameters say: macros of the rest are empty. */
export const NO_LINK_FACTS = {
	salesUsdMicros: null,
	domain: null,
	source: null,
	subid1: null,
	subid2: null,
	subid3: null,
	subid4: null,
	subid5: null,
} as const;

/**
 * The address that is called: the publisher's own with its macros filled in, its parameters otherwise untouched, and behind them those of txnid,
 * cid, payout, status and edate for which it has no macro. One of these five names without a macro gives way, so that each stands once. A
 * fragment is left out.
 * @param url an absolute address
 */
export function buildCallbackUrl(url: string, facts: CallbackFacts): string {
	const values = valuesOf(facts);
	const parsed = new URL(url);
	const fill = (text: string) => replaceMacros(text, (name) => ownOf(values, name) ?? null);
	const given = parsed.search.slice(1).split("&");
	const names = new Set(given.map(nameOf));
	const own = given.filter((parameter) => isKept(parameter) && isAsNamed(fill(parameter), parameter, names));
	const told = new Set([...macrosOf(parsed.pathname + own.join("&")).known, ...own.map(nameOf)]);
	const added = CALLBACK_PARAMETERS.filter((name) => !told.has(name)).map((name) => `${name}=${values[name]}`);
	const query = [...own.map(fill), ...added].join("&");
	return `${parsed.origin}${fillPath(parsed.pathname, fill)}${query === "" ? "" : `?${query}`}`;
}

/** Each as it stands in an address. */
function valuesOf(facts: CallbackFacts): Record<string, string> {
	const { id, txnid, cid, status, domain, source, subid1, subid2, subid3, subid4, subid5, salesUsdMicros } = facts;
	const texts: Record<(typeof CALLBACK_MACROS)[number], string | null> = {
		...{ id, txnid, cid, status, domain, source, subid1, subid2, subid3, subid4, subid5 },
		payout: formatUsd(facts.payoutMicros),
		sales: salesUsdMicros === null ? null : formatUsd(salesUsdMicros),
		edate: isoTime(facts.eventAt),
	};
	return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, encodeURIComponent((text ?? "").toWellFormed())]));
}

/** What is read as this folder or the one above, a dot escaped or not: an address may have one beside a macro. */
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Users choose what a link brings: none of it may name another folder of the publisher's. */
function fillPath(path: string, fill: (text: string) => string): string {
	return path
		.split("/")
		.map((segment) => fill(segment))
		.map((segment) => (DOTS.test(segment) ? "" : segment))
		.join("/");
}

/** Users choose what a link brings: a macro that is the name of a parameter may not make it one of the five, or another of the address's. */
function isAsNamed(filled: string, own: string, names: ReadonlySet<string>): boolean {
	const name = nameOf(filled);
	return name === nameOf(own) || !(isOurs(name) || names.has(name));
}

function isOurs(name: string): boolean {
	return (CALLBACK_PARAMETERS as readonly string[]).includes(name);
}

function nameOf(parameter: string): string {
	const [name = ""] = new URLSearchParams(parameter).keys();
	return name;
}

/** What is no parameter of the five is the publisher's own, and what it fills by a macro. */
function isKept(parameter: string): boolean {
	if (parameter === "") return false;
	return !isOurs(nameOf(parameter)) || macrosOf(parameter).known.length > 0;
}
