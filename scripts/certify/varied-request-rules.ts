/** Rules of the OpenRTB 2.5 endpoint that a program keeps which looks right on one request: on other ones, and of what is behind the link. */
import {
	bidOf,
	clickRule,
	clickUrlOf,
	deeplinkFaults,
	extOf,
	type Fields,
	fillRule,
	isFill,
	live,
	noBidRule,
	post,
	request,
	seatOf,
} from "./openrtb-asks.ts";
import { bodyOf, expectEqual, expectThat, type Rule, type Subject } from "./rule.ts";

/** With what writers of JSON escape, and nothing that ids cannot have. */
const STRANGE_ID = 'certify "\\/\u00e4\u{1f600}"';

const altRule = (alt: unknown, altered: boolean): Rule => ({
	name: `imp.native.ext.alt of ${alt} is altered ${altered}`,
	send: (subject) => post(subject, request(subject, {}, { native: { ext: { alt } } })),
	check: (answer) => [...isFill(answer), ...expectEqual("altered", extOf(answer).altered, altered)],
});

const deeplinkRule = (place: string, make: (subject: Subject) => Fields): Rule => ({
	name: `a page of the brand is read where else it may stand (${place})`,
	needs: ["deeplink"],
	send: (subject) => post(subject, make(subject)),
	check: (answer, { deeplink }) => deeplinkFaults(answer, deeplink),
});

export const VARIED_REQUEST_RULES: readonly Rule[] = [
	{
		name: "id and impid are echoed whatever is in them",
		send: (subject) => post(subject, { ...request(subject, {}, { id: STRANGE_ID }), id: STRANGE_ID }),
		check: (answer) => [
			...isFill(answer),
			...expectEqual("id", bodyOf(answer).id, STRANGE_ID),
			...expectEqual("impid", bidOf(answer).impid, STRANGE_ID),
		],
	},
	{
		name: "of two impressions the first is bid on, and alone",
		send: (subject) => post(subject, { ...request(subject), imp: [{ id: "certify-imp" }, { id: "certify-2" }] }),
		check(answer) {
			const { seatbid } = bodyOf(answer);
			const { bid } = seatOf(answer);
			return [
				...isFill(answer),
				...expectEqual("seats", Array.isArray(seatbid) ? seatbid.length : 0, 1),
				...expectEqual("bids", Array.isArray(bid) ? bid.length : 0, 1),
				...expectEqual("impid", bidOf(answer).impid, "certify-imp"),
			];
		},
	},
	altRule(1, true),
	altRule(true, true),
	altRule(0, false),
	{
		name: "final_url is the advertiser's address where neither a page nor a deeplink is sent",
		send: (subject) => post(subject, request(subject)),
		check(answer) {
			const { final_url: url, advertiser_name: host } = extOf(answer);
			if (typeof host !== "string") return [...isFill(answer), "advertiser_name is not text"];
			return [...isFill(answer), ...expectEqual("final_url", url, `https://${host}/`)];
		},
	},
	{
		name: "the click URL is absolute, of http or https, and holds no macro",
		send: (subject) => post(subject, request(subject)),
		check(answer) {
			const url = clickUrlOf(answer);
			if (url === null) return [...isFill(answer), "adm holds no native.link.url that is a URL"];
			return [
				...isFill(answer),
				...expectThat(/^https?:$/.test(url.protocol), `the click URL begins with ${url.protocol}`),
				...expectThat(!String(bidOf(answer).adm).includes("${"), "the click URL holds a macro"),
			];
		},
	},
	{
		name: "a click URL is of its own auction: the next has another rtuli and encyp",
		isRepeated: true,
		first: (subject) => post(subject, request(subject)),
		send: (subject) => post(subject, request(subject)),
		check(answer, _subject, first) {
			const [before, after] = [first === null ? null : clickUrlOf(first), clickUrlOf(answer)];
			return [
				...isFill(answer),
				...["rtuli", "encyp"].flatMap((name) =>
					expectThat(before?.searchParams.get(name) !== after?.searchParams.get(name), `two click URLs have the same ${name}`),
				),
			];
		},
	},
	{
		...clickRule("the click URL of a live bid has no tsts", (subject) => request(subject), { tsts: null }),
		send: (subject) => live(subject),
	},
	clickRule("an address that is no IPv4 address is not passed on", (subject) => request(subject, { device: { ip: "203.0.113.999" } }), {
		ip: null,
	}),
	fillRule("country US bids, of the device or the user", (subject) =>
		post(subject, request(subject, { device: { geo: { country: "US" } }, user: { geo: { country: "US" } } })),
	),
	noBidRule("another country of the user, where the device names none", (subject) =>
		post(subject, request(subject, { user: { geo: { country: "DE" } } })),
	),
	deeplinkRule("imp.ext.deeplink", (subject) => request(subject, {}, { ext: { deeplink: subject.deeplink } })),
	deeplinkRule("site.ext.deeplink", (subject) =>
		request(subject, { site: { domain: subject.domain, ext: { deeplink: subject.deeplink } } }),
	),
	deeplinkRule("app.ext.deeplink", (subject) =>
		request(subject, { site: {}, app: { domain: subject.domain, ext: { deeplink: subject.deeplink } } }),
	),
	deeplinkRule("imp.native.ext.url", (subject) => request(subject, {}, { native: { ext: { url: subject.deeplink } } })),
];
