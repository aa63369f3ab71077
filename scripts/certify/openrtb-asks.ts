/** What rules of the OpenRTB 2.5 endpoint send, and what they read of its answers. */
import { type Answer, bodyOf, expectEqual, expectThat, isObject, parseUrl, type Rule, type Sent, type Subject } from "./rule.ts";

export type Fields = Record<string, unknown>;

/** A test request for the brand, with the supply chain where one is asked for. */
export function request({ auctionId, domain, supplyChain }: Subject, changes: Fields = {}, impression: Fields = {}): Fields {
	const source = supplyChain === null ? undefined : { schain: supplyChain };
	return { id: auctionId, imp: [{ id: "certify-imp", ...impression }], site: { domain }, source, test: 1, ...changes };
}

export function post({ identity }: Subject, body: unknown, headers: Record<string, string> = {}): Sent {
	return {
		method: "POST",
		path: `/openrtb/${identity}`,
		body: typeof body === "string" ? body : JSON.stringify(body),
		headers: { "content-type": "application/json", ...headers },
	};
}

/** The one bid of a fill; an empty object where there is none. */
export function bidOf(answer: Answer): Fields {
	const seat = seatOf(answer);
	const bid = Array.isArray(seat.bid) ? seat.bid[0] : undefined;
	return isObject(bid) ? bid : {};
}

export function seatOf(answer: Answer): Fields {
	const { seatbid } = bodyOf(answer);
	const seat = Array.isArray(seatbid) ? seatbid[0] : undefined;
	return isObject(seat) ? seat : {};
}

/** The click URL inside adm, or null. */
export function clickUrlOf(answer: Answer): URL | null {
	const { adm } = bidOf(answer);
	if (typeof adm !== "string") return null;
	const { native } = bodyOf({ ...answer, text: adm });
	const link = isObject(native) ? native.link : undefined;
	return isObject(link) && typeof link.url === "string" ? parseUrl(link.url) : null;
}

export function versioned(answer: Answer): string[] {
	return expectEqual("x-openrtb-version", answer.headers.get("x-openrtb-version"), "2.5");
}

export function isFill(answer: Answer): string[] {
	return [...expectEqual("status", answer.status, 200), ...versioned(answer)];
}

function isNoBid(answer: Answer): string[] {
	return [
		...expectEqual("status", answer.status, 204),
		...versioned(answer),
		...expectThat(answer.text === "", "the body is not empty"),
		...expectEqual("Content-Type", answer.headers.get("content-type"), null),
	];
}

export function isError(answer: Answer, error: string): string[] {
	return [...expectEqual("status", answer.status, 400), ...versioned(answer), ...expectEqual("body", bodyOf(answer), { error })];
}

/** A rule about parameters of the click URL. */
export function clickRule(name: string, make: (subject: Subject) => Fields, expected: Record<string, string | null>): Rule {
	return {
		name,
		send: (subject) => post(subject, make(subject)),
		check(answer) {
			const url = clickUrlOf(answer);
			if (url === null) return [...isFill(answer), "adm holds no native.link.url that is a URL"];
			return Object.entries(expected).flatMap(([parameter, value]) =>
				expectEqual(`click URL's ${parameter}`, url.searchParams.get(parameter), value),
			);
		},
	};
}

export function noBidRule(name: string, make: Rule["send"], before: Pick<Rule, "first" | "lacks"> = {}): Rule {
	return { name: `${name}: 204, empty, without Content-Type`, send: make, check: isNoBid, ...before };
}

export function fillRule(name: string, make: (subject: Subject) => Sent): Rule {
	return { name, send: make, check: isFill };
}

/** A live bid: a price can be seen on no other. */
export function live(subject: Subject, bidfloor?: unknown): Sent {
	return post(subject, request(subject, { test: 0 }, bidfloor === undefined ? {} : { bidfloor, bidfloorcur: "USD" }));
}

/** Of a rule about the price that a live bid had before. */
export const AFTER_PRICE = {
	first: (subject: Subject) => live(subject),
	lacks: (first: Answer) => expectThat(typeof bidOf(first).price === "number", "the bid without a floor has no price"),
};

/** The price of a live bid in ten-thousandths of a USD. */
export function priceOf(answer: Answer | null): number {
	const price = answer === null ? undefined : bidOf(answer).price;
	return typeof price === "number" ? Math.round(price * 10_000) : 0;
}

export function extOf(answer: Answer): Fields {
	const { ext } = bidOf(answer);
	return isObject(ext) ? ext : {};
}

/** What is wrong with a bid on a page of the brand. */
export function deeplinkFaults(answer: Answer, deeplink: string | null): string[] {
	return [
		...isFill(answer),
		...expectEqual("dl", clickUrlOf(answer)?.searchParams.get("dl") ?? null, deeplink),
		...expectEqual("final_url", extOf(answer).final_url, deeplink),
	];
}

const NEVER_IN_RESPONSE = ["nbr", "ext"];
/** Of a bid that is answered in full, too. */
export const NEVER_IN_ANY_BID: readonly string[] = ["w", "h", "dealid"];

/** A rule that the response, its seat and its bid have no more than they may. @param ofBid names that the bid may not have */
export function neverRule(name: string, ofBid: readonly string[]): Rule {
	return {
		name,
		send: (subject) => post(subject, request(subject)),
		check: (answer) => [
			...isFill(answer),
			...NEVER_IN_RESPONSE.filter((field) => field in bodyOf(answer)).map((field) => `the response holds ${field}`),
			...expectThat(!("group" in seatOf(answer)), "the seat holds group"),
			...ofBid.filter((field) => field in bidOf(answer)).map((field) => `the bid holds ${field}`),
		],
	};
}
