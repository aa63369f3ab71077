/** Replaces the values that are fresh in every answer by the words that stand for them, so that the rest compares exactly. */
import { formatPrice } from "../../../src/lib/money.ts";
import type { ClickExpectation } from "./expected-body.ts";
import { clickUrlOfAdm, type OpenedClick, openClick } from "./open-click.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UUID_WORD = /^<uuid(?::[a-z]+)?>$/;

type Context = { click: OpenedClick | null; uuids: Map<string, string> };

/**
 * `actual` with each fresh value that is as `expected` wants it replaced by the expectation itself. What is not as wanted stays,
 * and shows when the two are compared.
 */
export async function normaliseBody(actual: unknown, expected: unknown): Promise<unknown> {
	const url = findClickUrl(actual);
	const click = url === null ? null : await openClick(url);
	return normalise(actual, expected, { click, uuids: new Map() });
}

/** The click URL in the body of a fill of either endpoint; null where there is none. */
export function findClickUrl(body: unknown): string | null {
	if (!isObject(body)) return null;
	if (typeof body.redirect_url === "string") return body.redirect_url;
	const seats = body.seatbid;
	const bids = Array.isArray(seats) && isObject(seats[0]) ? seats[0].bid : null;
	return Array.isArray(bids) && isObject(bids[0]) ? clickUrlOfAdm(bids[0].adm) : null;
}

function normalise(actual: unknown, expected: unknown, context: Context): unknown {
	if (typeof expected === "string") return normaliseText(actual, expected, context);
	if (isObject(expected) && "click_url" in expected) return describeClick(actual, context.click);
	if (Array.isArray(actual) && Array.isArray(expected)) return actual.map((item, at) => normalise(item, expected[at], context));
	if (!isObject(actual) || !isObject(expected)) return actual;
	return Object.fromEntries(Object.entries(actual).map(([key, value]) => [key, normalise(value, expected[key], context)]));
}

function normaliseText(actual: unknown, expected: string, { click, uuids }: Context): unknown {
	if (expected === "<advertiser-id>") {
		const isOurs = click !== null && Number.isSafeInteger(click.token.advertiserId) && actual === String(click.token.advertiserId);
		return isOurs ? expected : actual;
	}
	if (!UUID_WORD.test(expected) || typeof actual !== "string" || !UUID.test(actual)) return actual;
	// The auction's own id is never shown as the id of the bid.
	if (actual === click?.rtuli) return actual;
	if (expected === "<uuid>") return expected;
	// The same name stands for the same value, another name for another one.
	const named = [...uuids].every(([name, value]) => (name === expected) === (value === actual));
	if (!named) return actual;
	uuids.set(expected, actual);
	return expected;
}

function describeClick(actual: unknown, click: OpenedClick | null): unknown {
	const isText = typeof actual === "string";
	if (click === null || !isText || (actual !== click.url && clickUrlOfAdm(actual) !== click.url)) return actual;
	if (!UUID.test(click.rtuli) || new Set(click.params.map(([name]) => name)).size !== click.params.length) return actual;
	const { kind, publisher, domain, campaignId, bidMicros, typoId, mintedAt, test } = click.token;
	// Told apart from a right one only where it is wrong, so that a case need not repeat it.
	const wrong = { ...(typoId !== 0 && { typoId }), ...(mintedAt !== Date.now() && { mintedAt, now: Date.now() }) };
	const token = { kind, publisher, domain, campaign_id: campaignId, bid: formatPrice(bidMicros / 100), test, ...wrong };
	return { click_url: Object.fromEntries(click.params), token } satisfies ClickExpectation;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
