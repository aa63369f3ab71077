/** The two real-time endpoints. Their readers are tolerant by hand (src/openrtb, src/bidding): these schemas state what is asked for. */
import * as v from "valibot";
import { PUBLISHER_IDENTITY } from "../../lib/enums.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { errorSchema } from "./shapes.ts";

const text = v.string();
const amount = v.union([v.number(), v.string()]);
const ext = v.looseObject({ deeplink: v.nullish(text) });
const flag = v.union([v.literal(1), v.boolean(), v.string()]);

const impression = named(
	"Impression",
	v.looseObject({
		id: v.pipe(text, v.nonEmpty(), v.description("Returned as bid.impid.")),
		bidfloor: v.nullish(v.pipe(amount, v.description("Floor in USD earnings per click."))),
		bidfloorcur: v.nullish(v.pipe(text, v.description("USD; anything else is a no-bid."))),
		tagid: v.nullish(v.pipe(v.union([v.string(), v.number()]), v.description("Placement id; `subi` of the click URL."))),
		native: v.nullish(v.looseObject({ ext: v.nullish(v.looseObject({ url: v.nullish(text), alt: v.nullish(flag) })) })),
		ext: v.nullish(ext),
	}),
);

const geo = v.nullish(v.looseObject({ country: v.nullish(v.pipe(text, v.description("US or USA; absent counts as US."))) }));
const place = v.looseObject({
	domain: v.nullish(v.pipe(text, v.description("Brand domain, or a full URL."))),
	search: v.nullish(v.pipe(text, v.description("Search keyword."))),
	page: v.nullish(text),
	ref: v.nullish(text),
	publisher: v.nullish(
		v.looseObject({ id: v.nullish(v.pipe(v.union([v.string(), v.number()]), v.description("`clickid` of the click URL."))) }),
	),
	ext: v.nullish(ext),
});

/** What a bid request holds; unknown fields are ignored. */
const bidRequestSchema = named(
	"BidRequest",
	v.looseObject({
		id: v.pipe(text, v.nonEmpty(), v.description("Auction id, echoed.")),
		imp: v.union([v.pipe(v.array(impression), v.minLength(1), v.description("Only the first impression is bid on.")), impression]),
		site: v.nullish(place),
		app: v.nullish(place),
		device: v.nullish(v.looseObject({ ua: v.nullish(text), ip: v.nullish(text), ipv6: v.nullish(text), geo })),
		user: v.nullish(v.looseObject({ id: v.nullish(text), buyeruid: v.nullish(text), keywords: v.nullish(text), geo })),
		tmax: v.nullish(v.pipe(v.number(), v.description("Milliseconds; kept."))),
		cur: v.nullish(v.array(text)),
		badv: v.nullish(v.array(text)),
		wseat: v.nullish(v.array(text)),
		bseat: v.nullish(v.array(text)),
		test: v.nullish(v.pipe(v.number(), v.description("1 for integration tests: the bid has price 0 and is never paid."))),
		ext: v.nullish(ext),
	}),
);

const notice = v.optional(
	v.pipe(text, v.description("With `response_profile` `full`. To be called with its macros filled in; it never bills.")),
);
const whole = v.pipe(v.number(), v.integer());

/** What a bid has beyond the interface with `response_profile` `full`. */
const IN_FULL = {
	nurl: notice,
	burl: notice,
	lurl: notice,
	cid: v.optional(v.pipe(text, v.description("With `response_profile` `full`. The campaign."))),
	crid: v.optional(v.pipe(text, v.description("With `response_profile` `full`. Of the campaign and the kind of its link."))),
	cat: v.optional(v.pipe(v.array(text), v.description("With `response_profile` `full`. The advertiser's IAB categories."))),
	cattax: v.optional(v.pipe(whole, v.description("With `response_profile` `full`. Of which taxonomy they are."))),
	exp: v.optional(v.pipe(whole, v.description("With `response_profile` `full`. For how many seconds a click is paid."))),
	mtype: v.optional(v.pipe(v.literal(4), v.description("With `response_profile` `full`. Native."))),
};

const bidSchema = named(
	"Bid",
	v.strictObject({
		id: v.pipe(text, v.uuid(), v.description("Equals bidid.")),
		impid: text,
		price: v.pipe(v.number(), v.minValue(0), v.description("USD earnings per click, four decimals.")),
		adm: v.pipe(text, v.description("JSON text: `native.link.url` is the click URL.")),
		adomain: v.pipe(v.array(text), v.maxLength(1)),
		...IN_FULL,
		ext: v.strictObject({ final_url: text, altered: v.boolean(), advertiser_name: text, advertiser_id: text }),
	}),
);

const bidResponseSchema = named(
	"BidResponse",
	v.strictObject({
		id: v.pipe(text, v.description("Copy of the request's id.")),
		bidid: v.pipe(text, v.uuid()),
		cur: v.literal("USD"),
		seatbid: v.pipe(v.array(named("SeatBid", v.strictObject({ seat: text, bid: v.pipe(v.array(bidSchema), v.length(1)) }))), v.length(1)),
	}),
);

const adSchema = v.strictObject({
	status: v.literal(1),
	bid_amount: v.pipe(text, v.regex(/^\d+\.\d{4}$/), v.description("USD earnings per click.")),
	redirect_url: v.pipe(text, v.url()),
	is_deeplink: v.picklist(["Yes", "No"]),
});
const noAdSchema = v.strictObject({
	status: v.literal(0),
	error: v.optional(v.pipe(text, v.description("Only where a required field is missing."))),
});

const servingEngineResponseSchema = named(
	"ServingEngineResponse",
	v.union([named("ServingEngineAd", adSchema), named("ServingEngineNoAd", noAdSchema)]),
);

const VERSION_HEADER = { "x-openrtb-version": "Always 2.5." };

export const BID_OPERATIONS: readonly Operation[] = [
	{
		method: "post",
		path: "/openrtb/{publisher_identity}",
		id: "bidOpenRtb",
		tag: "Bids",
		host: "rtb",
		summary: "OpenRTB 2.5 bid request",
		description:
			"One request an auction. The body may be gzip. 204 is the normal answer where there is no bid; do not retry it. Call the click URL only for a real click.",
		parameters: [
			{
				in: "path",
				name: "publisher_identity",
				description: "Publisher Identity, from the account manager.",
				schema: v.pipe(text, v.regex(PUBLISHER_IDENTITY)),
				example: "acme_rtb",
			},
			{
				in: "header",
				name: "AccessKey",
				description: "Only for tests of a publisher with the option `openrtb.nbr`: a 204 then says why, in `x-nbr`. A bid needs no key.",
				schema: text,
			},
		],
		body: {
			required: true,
			contents: [
				{
					schema: bidRequestSchema,
					example: {
						id: "auction-1",
						imp: [{ id: "1", bidfloor: 0.01, bidfloorcur: "USD", tagid: "top" }],
						site: { domain: "shoes.example" },
					},
				},
			],
		},
		answers: {
			200: { description: "A bid.", headers: VERSION_HEADER, content: { schema: bidResponseSchema } },
			204: {
				description: "No bid: an empty body.",
				headers: { ...VERSION_HEADER, "x-nbr": "The code of the reason, of tests with an AccessKey, by option." },
			},
			400: {
				description: "The request must be corrected before it is sent again.",
				headers: VERSION_HEADER,
				content: { schema: errorSchema, example: { error: "Invalid OpenRTB bid request" } },
			},
			405: {
				description: "Another method than POST.",
				headers: { ...VERSION_HEADER, allow: "POST" },
				content: { schema: errorSchema, example: { error: "Only POST is accepted" } },
			},
			413: {
				description:
					"The body holds more than 128 KiB, or more than 16 KiB and 5,000 names and values, eight escapes of texts counting as one.",
				headers: VERSION_HEADER,
				content: { schema: errorSchema, example: { error: "The body may hold at most 131072 bytes" } },
			},
		},
	},
	{
		method: "get",
		path: "/serving-engine",
		id: "bidServingEngine",
		tag: "Bids",
		host: "rtb",
		summary: "Bid by query",
		description: "Always HTTP 200: read `status`. A deeplink of another host than the brand's is answered with the homepage.",
		parameters: [
			{ in: "query", name: "pubi", required: true, description: "Publisher Id, from the account manager.", schema: text, example: "1001" },
			{ in: "query", name: "bd", required: true, description: "Brand domain, or a full URL.", schema: text, example: "shoes.example" },
			{ in: "query", name: "cc", required: true, description: "Country code.", schema: text, example: "US" },
			{ in: "query", name: "kw", description: "Search keyword; prices the bid.", schema: text },
			{ in: "query", name: "dl", description: "Deeplink; leave it out when there is none.", schema: text },
			{ in: "query", name: "fbid", description: "Floor bid, USD.", schema: text },
			{ in: "query", name: "clickid", description: "Your click id; comes back in reports and callbacks.", schema: text },
			{ in: "query", name: "subid", description: "Traffic source; `source_id` of reports.", schema: text },
			{ in: "query", name: "ua", description: "The user's browser agent.", schema: text },
			{ in: "query", name: "ip", description: "The user's IPv4 or IPv6 address.", schema: text },
			{ in: "query", name: "ref", description: "Page where the ad is shown.", schema: text },
		],
		answers: { 200: { description: "An ad, no ad, or what is missing.", content: { schema: servingEngineResponseSchema } } },
	},
];
