import { CALLBACK_PARAMETERS } from "../lib/callback-url.ts";
import type { CallbackStatus } from "../lib/enums.ts";
import { formatUsd } from "../lib/money.ts";

/** What a publisher is told of a conversion. */
export type CallbackFacts = {
	txnid: string;
	/** The publisher's own click id; empty where the click had none. */
	cid: string;
	/** Publisher revenue, micro-dollars. */
	payoutMicros: number;
	status: CallbackStatus;
	/** When the conversion happened, Unix milliseconds. */
	eventAt: number;
};

/**
 * The address that is called: the publisher's own, its parameters untouched, with txnid, cid, payout, status and edate behind
 * them. One of these five names in the publisher's address gives way, so that each stands once. A fragment is left out.
 * @param url an absolute address
 */
export function buildCallbackUrl(url: string, { txnid, cid, payoutMicros, status, eventAt }: CallbackFacts): string {
	const parsed = new URL(url);
	const values = { txnid, cid, payout: formatUsd(payoutMicros), status, edate: new Date(eventAt).toISOString() };
	const own = parsed.search.slice(1).split("&").filter(isOwn);
	const added = CALLBACK_PARAMETERS.map((name) => `${name}=${encodeURIComponent(values[name].toWellFormed())}`);
	parsed.hash = "";
	parsed.search = "";
	return `${parsed.href}?${[...own, ...added].join("&")}`;
}

function isOwn(parameter: string): boolean {
	if (parameter === "") return false;
	const [name] = new URLSearchParams(parameter).keys();
	return !(CALLBACK_PARAMETERS as readonly (string | undefined)[]).includes(name);
}
