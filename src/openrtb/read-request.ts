/**
 * Tolerant reader of OpenRTB 2.5 bid requests: unknown fields are ignored, null and blank are absent, harmless wrong types are
 * read for what they mean. Only what the interface lists makes a request invalid.
 */

import { isObject } from "../lib/json.ts";
import type { PrivacySignals } from "../privacy/signals.ts";
import { readPrivacy } from "./read-privacy.ts";
import { decimal, isFilled, isPresent, isTooLong, isTrue, object, positiveNumber, text, texts } from "./read-values.ts";

/** The floor of an auction. An amount that cannot be read is kept apart from none: it must never let a bid through. */
export type Floor = { kind: "none" } | { kind: "usd"; amount: number } | { kind: "other_currency" } | { kind: "unusable" };

export type BidRequest = {
	id: string;
	impId: string;
	/** Country as sent, upper case; null when none was. */
	country: string | null;
	/** Host or URL as sent. */
	domain: string | null;
	/** `site.search`: one text. */
	search: string | null;
	/** `user.keywords`: a list with commas. */
	keywords: string | null;
	page: string | null;
	deeplink: string | null;
	/** `imp.native.ext.alt` is 1 or true. */
	altered: boolean;
	/** `imp.pmp.private_auction`: bids on deals only. */
	privateAuction: boolean;
	floor: Floor;
	test: boolean;
	/** Time the auction gives, in milliseconds. */
	tmaxMs: number | null;
	clickId: string | null;
	/** `site.publisher.id` alone, without the user's id in its place. */
	publisherClickId: string | null;
	buyerUid: string | null;
	tagId: string | null;
	ip: string | null;
	ipv6: string | null;
	userAgent: string | null;
	blockedAdvertisers: readonly string[];
	/** Seats that may bid; empty for all. */
	allowedSeats: readonly string[];
	blockedSeats: readonly string[];
	/** Currencies the auction accepts; empty for all. */
	currencies: readonly string[];
	/** Null where nothing is said of privacy. */
	privacy: PrivacySignals | null;
	/** A list or an id of the request is longer than any auction takes. */
	tooComplex: boolean;
};

/** Longest id of a request or impression that is answered, in UTF-16 units: an answer repeats them. A longer one is a no-bid. */
export const MAX_ID_LENGTH = 8_192;

/** Reads a parsed body; null where it is no valid bid request (HTTP 400): no object, no id, or a first impression without id. */
export function readBidRequest(body: unknown): BidRequest | null {
	if (!isObject(body)) return null;
	const { id } = body;
	const imp = Array.isArray(body.imp) ? body.imp[0] : body.imp;
	if (!isFilled(id) || !isObject(imp) || !isFilled(imp.id)) return null;

	const site = object(body.site);
	const app = object(body.app);
	const device = object(body.device);
	const user = object(body.user);
	const native = object(imp.native);
	const nativeExt = object(native.ext);
	const publisherClickId = text(object(site.publisher).id);
	return {
		id,
		impId: imp.id,
		country: readCountry(object(device.geo).country) ?? readCountry(object(user.geo).country),
		domain: text(site.domain) ?? text(app.domain),
		search: text(site.search),
		keywords: text(user.keywords),
		page: text(site.page),
		deeplink:
			text(object(imp.ext).deeplink) ??
			text(object(site.ext).deeplink) ??
			text(object(app.ext).deeplink) ??
			text(object(body.ext).deeplink) ??
			text(nativeExt.url),
		altered: isTrue(nativeExt.alt),
		privateAuction: isTrue(object(imp.pmp).private_auction),
		floor: readFloor(imp.bidfloor, imp.bidfloorcur),
		test: isTrue(body.test),
		tmaxMs: positiveNumber(body.tmax),
		clickId: publisherClickId ?? text(user.id),
		publisherClickId,
		buyerUid: text(user.buyeruid),
		tagId: text(imp.tagid),
		ip: text(device.ip)?.trim() ?? null,
		ipv6: text(device.ipv6)?.trim() ?? null,
		userAgent: text(device.ua),
		blockedAdvertisers: texts(body.badv),
		allowedSeats: texts(body.wseat),
		blockedSeats: texts(body.bseat),
		currencies: texts(body.cur),
		privacy: readPrivacy(body, device, user),
		tooComplex:
			id.length > MAX_ID_LENGTH ||
			imp.id.length > MAX_ID_LENGTH ||
			isTooLong(body.badv) ||
			isTooLong(body.wseat) ||
			isTooLong(body.bseat) ||
			isTooLong(body.cur),
	};
}

/** A country in upper case; null where none was sent. One that cannot be read is a country, and none that is served. */
function readCountry(value: unknown): string | null {
	return isPresent(value) ? (text(value)?.trim().toUpperCase() ?? "") : null;
}

/** Reads a floor given as a number or a decimal string. Zero and below is no floor (but the currency still counts). */
export function readFloor(amount: unknown, currency: unknown): Floor {
	const code = text(currency)?.trim().toUpperCase();
	if (code === undefined ? isPresent(currency) : code !== "USD") return { kind: "other_currency" };
	if (!isPresent(amount)) return { kind: "none" };
	const value = decimal(amount);
	if (typeof value !== "number" || Number.isNaN(value)) return { kind: "unusable" };
	return value > 0 ? { kind: "usd", amount: value } : { kind: "none" };
}
