/** The OpenRTB 2.5 endpoint's rules. */
import { gzipSync } from "node:zlib";
import { FULL_RULES } from "./full-rules.ts";
import {
	AFTER_PRICE,
	bidOf,
	clickRule,
	clickUrlOf,
	deeplinkFaults,
	extOf,
	type Fields,
	fillRule,
	isError,
	isFill,
	live,
	NEVER_IN_ANY_BID,
	neverRule,
	noBidRule,
	post,
	priceOf,
	request,
	seatOf,
	versioned,
} from "./openrtb-asks.ts";
import { bodyOf, expectEqual, expectThat, isJson, isObject, type Rule, type Subject, shown } from "./rule.ts";
import { SUPPLY_CHAIN_RULES } from "./supply-chain-rules.ts";
import { VARIED_REQUEST_RULES } from "./varied-request-rules.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What `response_profile` of the publisher is. */
export type Profile = "contract" | "full";

/** The rules of a profile. */
export function openRtbRules(profile: Profile): readonly Rule[] {
	return profile === "contract" ? OPENRTB_RULES : [...OPENRTB_RULES.filter(({ name }) => name !== NEVER), ...FULL_RULES];
}

const NEVER = "fields that never appear do not";

export const OPENRTB_RULES: readonly Rule[] = [
	fillRule("a brand that bids is 200", (subject) => post(subject, request(subject))),
	{
		name: "the response is JSON, echoes id, names USD, and holds one seat with one bid",
		send: (subject) => post(subject, request(subject)),
		check(answer, { auctionId }) {
			const { id, cur, seatbid } = bodyOf(answer);
			const { bid } = seatOf(answer);
			return [
				...isJson(answer),
				...expectEqual("id", id, auctionId),
				...expectEqual("cur", cur, "USD"),
				...expectEqual("seats", Array.isArray(seatbid) ? seatbid.length : 0, 1),
				...expectEqual("bids", Array.isArray(bid) ? bid.length : 0, 1),
				...expectEqual("impid", bidOf(answer).impid, "certify-imp"),
				...expectThat(typeof seatOf(answer).seat === "string" && seatOf(answer).seat !== "", "seat is not text"),
			];
		},
	},
	{
		name: "bidid is a UUID and equals the bid's id",
		send: (subject) => post(subject, request(subject)),
		check(answer) {
			const { bidid } = bodyOf(answer);
			return [...expectThat(UUID.test(String(bidid)), `bidid is ${shown(bidid)}`), ...expectEqual("bid.id", bidOf(answer).id, bidid)];
		},
	},
	{
		name: "bidid is another in each response",
		isRepeated: true,
		first: (subject) => post(subject, request(subject)),
		send: (subject) => post(subject, request(subject)),
		check: (answer, _subject, first) => [
			...isFill(answer),
			...expectThat(first !== null && bodyOf(first).bidid !== bodyOf(answer).bidid, "two responses have the same bidid"),
		],
	},
	neverRule(NEVER, ["lurl", "cid", "crid", ...NEVER_IN_ANY_BID]),
	{
		name: "ext holds final_url, altered, advertiser_name and advertiser_id; adomain is a list",
		send: (subject) => post(subject, request(subject)),
		check(answer) {
			const { ext, adomain } = bidOf(answer);
			if (!isObject(ext)) return ["the bid holds no ext"];
			const isNamed = typeof ext.advertiser_name === "string" && ext.advertiser_name !== "";
			return [
				...expectThat(typeof ext.final_url === "string", "final_url is not text"),
				...expectEqual("altered", ext.altered, false),
				...expectThat(typeof ext.advertiser_id === "string", "advertiser_id is not text"),
				...(isNamed ? expectEqual("adomain", adomain, [ext.advertiser_name]) : ["advertiser_name is not text"]),
			];
		},
	},
	{
		name: "altered echoes imp.native.ext.alt",
		send: (subject) => post(subject, request(subject, {}, { native: { ext: { alt: "TRUE" } } })),
		check: (answer) => expectEqual("altered", (bidOf(answer).ext as Fields | undefined)?.altered, true),
	},
	{
		name: "test = 1 is price 0 and tsts=1",
		send: (subject) => post(subject, request(subject)),
		check: (answer) => [
			...expectEqual("price", bidOf(answer).price, 0),
			...expectEqual("tsts", clickUrlOf(answer)?.searchParams.get("tsts") ?? null, "1"),
		],
	},
	{
		name: "a live price has at most four decimals and does not go under the floor",
		send: (subject) => post(subject, request(subject, { test: 0 }, { bidfloor: 0.0001, bidfloorcur: "USD" })),
		check(answer) {
			const { price } = bidOf(answer);
			if (typeof price !== "number") return [...isFill(answer), "price is not a number"];
			return [
				...expectThat(price >= 0.0001, `price ${price} is under the floor`),
				...expectThat(Number(price.toFixed(4)) === price, `price ${price} has more than four decimals`),
			];
		},
	},
	{
		name: "a floor of the very price bids",
		...AFTER_PRICE,
		send: (subject, first) => live(subject, priceOf(first) / 10_000),
		check: (answer, _subject, first) => [...isFill(answer), ...expectEqual("price", priceOf(answer), priceOf(first))],
	},
	noBidRule("a floor one step above the price", (subject, first) => live(subject, (priceOf(first) + 1) / 10_000), AFTER_PRICE),
	noBidRule("a floor given as text counts", (subject) => live(subject, "1000000")),
	clickRule("without them the click URL has no clickid, uid, subi, ip and dl; cc is the country", (subject) => request(subject), {
		clickid: null,
		uid: null,
		subi: null,
		ip: null,
		dl: null,
		cc: "US",
	}),
	{
		name: "final_url is the page; one without a scheme gets https:// and a slash",
		send: (subject) => post(subject, request(subject, { site: { domain: subject.domain, page: "certify-page.example/news" } })),
		check: (answer) => expectEqual("final_url", extOf(answer).final_url, "https://certify-page.example/news/"),
	},
	{
		name: "a page of the brand is bid on: dl on the click URL, and final_url",
		needs: ["deeplink"],
		send: (subject) => post(subject, request(subject, { ext: { deeplink: subject.deeplink } })),
		check: (answer, { deeplink }) => deeplinkFaults(answer, deeplink),
	},
	{
		name: "rtuli is neither the request's id nor the bid's",
		send: (subject) => post(subject, request(subject)),
		check(answer, { auctionId }) {
			const parameters = clickUrlOf(answer)?.searchParams;
			const rtuli = parameters?.get("rtuli") ?? "";
			return [
				...expectThat(rtuli !== "" && rtuli !== auctionId && rtuli !== bidOf(answer).id, `rtuli is ${JSON.stringify(rtuli)}`),
				...expectThat((parameters?.get("encyp") ?? "") !== "", "encyp is missing"),
			];
		},
	},
	clickRule(
		"clickid is site.publisher.id before user.id; uid, subi and an IPv4 address as an integer are passed on",
		(subject) =>
			request(
				subject,
				{
					site: { domain: subject.domain, publisher: { id: "certify-click" } },
					user: { id: "certify-user", buyeruid: "certify-buyer" },
					device: { ip: "203.0.113.9", ipv6: "2001:db8::1" },
				},
				{ tagid: "certify-tag" },
			),
		{ clickid: "certify-click", uid: "certify-buyer", subi: "certify-tag", ip: "3405803785", dl: null },
	),
	clickRule("clickid is user.id where site.publisher.id is missing", (subject) => request(subject, { user: { id: "certify-user" } }), {
		clickid: "certify-user",
		uid: null,
	}),
	clickRule("an IPv6 address is never passed on", (subject) => request(subject, { device: { ipv6: "2001:db8::1" } }), {
		ip: null,
		clickid: null,
		uid: null,
		subi: null,
	}),
	fillRule("country USA is US", (subject) => post(subject, request(subject, { device: { geo: { country: "USA" } } }))),
	fillRule("unknown fields and nulls are ignored", (subject) => post(subject, request(subject, { certify: { deep: [1] }, device: null }))),
	{
		name: "a single impression object is the first",
		send: (subject) => post(subject, { ...request(subject), imp: { id: "certify-single" } }),
		check: (answer) => [...isFill(answer), ...expectEqual("impid", bidOf(answer).impid, "certify-single")],
	},
	fillRule("app.domain counts where site.domain is missing", (subject) =>
		post(subject, request(subject, { site: {}, app: { domain: subject.domain } })),
	),
	fillRule("a full URL as the domain counts by its host", (subject) =>
		post(subject, request(subject, { site: { domain: `https://www.${subject.domain}/page?x=1` } })),
	),
	fillRule("a gzip body is read", (subject) => {
		const sent = post(subject, request(subject), { "content-encoding": "gzip" });
		return { ...sent, body: new Uint8Array(gzipSync(String(sent.body))) };
	}),
	...(["site", "user"] as const).map((place): Rule => {
		const field = place === "site" ? "search" : "keywords";
		return {
			name: `a keyword alone (${place}.${field}) bids, with an empty adomain and advertiser_name`,
			needs: ["keyword"],
			send: (subject) => post(subject, request(subject, { site: {}, [place]: { [field]: subject.keyword } })),
			check: (answer) => [
				...isFill(answer),
				...expectEqual("adomain", bidOf(answer).adomain, []),
				...expectEqual("advertiser_name", extOf(answer).advertiser_name, ""),
			],
		};
	}),
	{
		name: "a list of keywords (user.keywords) bids by its best one",
		needs: ["keyword"],
		send: (subject) => post(subject, request(subject, { site: {}, user: { keywords: `certify-none, ${subject.keyword} ,` } })),
		check: isFill,
	},
	...VARIED_REQUEST_RULES,
	noBidRule("a private auction", (subject) => post(subject, request(subject, {}, { pmp: { private_auction: 1, deals: [{ id: "d" }] } }))),
	...SUPPLY_CHAIN_RULES,
	noBidRule("another country", (subject) => post(subject, request(subject, { device: { geo: { country: "DE" } } }))),
	noBidRule("neither domain nor keyword", (subject) => post(subject, request(subject, { site: {} }))),
	noBidRule("an unknown domain", (subject) => post(subject, request(subject, { site: { domain: "certify-no-such-brand.invalid" } }))),
	noBidRule("a floor above the bid", (subject) => post(subject, request(subject, {}, { bidfloor: 1_000_000 }))),
	noBidRule("a floor in another currency", (subject) => post(subject, request(subject, {}, { bidfloor: 0.01, bidfloorcur: "EUR" }))),
	noBidRule("an identity that is not enabled", (subject) => post({ ...subject, identity: "certify-nobody-0" }, request(subject))),
	noBidRule("a deeplink of another host", (subject) =>
		post(subject, request(subject, { ext: { deeplink: "https://certify-elsewhere.invalid/" } })),
	),
	{
		name: "an identity with other characters is 400 Invalid publisher key",
		send: (subject) => post({ ...subject, identity: "not%20one" }, request(subject)),
		check: (answer) => isError(answer, "Invalid publisher key"),
	},
	{
		name: "an identity of 65 characters is 400 Invalid publisher key",
		send: (subject) => post({ ...subject, identity: "a".repeat(65) }, request(subject)),
		check: (answer) => isError(answer, "Invalid publisher key"),
	},
	...(
		[
			["a body that is not JSON", () => "{"],
			["no id", (subject) => JSON.stringify({ ...request(subject), id: undefined })],
			["a blank id", (subject) => JSON.stringify({ ...request(subject), id: " " })],
			["no impression", (subject) => JSON.stringify({ ...request(subject), imp: [] })],
			["an impression without id", (subject) => JSON.stringify({ ...request(subject), imp: [{}] })],
		] as [string, (subject: Subject) => string][]
	).map(([name, body]): Rule => {
		return {
			name: `${name} is 400 Invalid OpenRTB bid request`,
			send: (subject) => post(subject, body(subject)),
			check: (answer) => isError(answer, "Invalid OpenRTB bid request"),
		};
	}),
	{
		name: "GET is no bid request: 405 with Allow",
		send: ({ identity }) => ({ method: "GET", path: `/openrtb/${identity}` }),
		check: (answer) => [
			...expectEqual("status", answer.status, 405),
			...versioned(answer),
			...expectEqual("Allow", answer.headers.get("allow"), "POST"),
		],
	},
];
