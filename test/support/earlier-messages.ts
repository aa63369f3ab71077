/**
 * What earlier versions have written into queues and KV, as it came out of them: it may still wait there, or among the dead letters, when
 * this version reads it; named by the release or the commit that began to write so. Nothing here is ever changed; what a version begins to write is added. The network is that of
 * `importConversionNetwork`.
 */

/** A click's message, and what is stored of the click. */
type EarlierClick = { of: string; body: { id: string; hash: string; [field: string]: unknown }; stored: Record<string, unknown> };

const TERMS = { pricingModel: "CPA", sharePpm: 800_000, bidMicros: 320_000, grossMicros: 400_000 };
const OF_BID = { format: 1, kind: "openrtb", publisher: "identity-cpa", brandId: 1, campaignId: 11, country: "US" };
const OF_USER = { ipPrefix: "2001:db8:1::/48", userAgentHash: "a2091cae069054d2" };
const TEXTS = { clickid: "pub-click", subi: "slot-1", uid: "buyer-1" };
/** What a paid click of them is stored as. */
const PAID = { reason: null, platform: "west", bid_micros: 320_000, gross_micros: 400_000, revenue_micros: 0, pricing_model: "CPA" };

export const EARLIER_CLICKS: readonly EarlierClick[] = [
	{
		of: "0.1.0",
		body: {
			...OF_BID,
			...OF_USER,
			id: "019a974b-3952-7f83-96fc-6f71fb13ff01",
			at: 1_763_474_880_850,
			hash: "5f1e9d8ef8ca55bdaea171e298b90301",
			bidMicros: 320_000,
			texts: { ...TEXTS, subid1: "s1" },
		},
		stored: { ...PAID, publisher_click_id: "pub-click", source_id: "slot-1" },
	},
	{
		of: "0.1.0, of a link without a price",
		body: {
			...OF_BID,
			...OF_USER,
			kind: "link",
			id: "019a974b-3952-7f83-96fc-6f71fb13ff02",
			at: 1_763_474_880_850,
			hash: "5f1e9d8ef8ca55bdaea171e298b90302",
			texts: TEXTS,
		},
		stored: PAID,
	},
	...["head", "prefetch", "bot", "test", "expired"].map((reason, at) => ({
		of: `0.1.0, ${reason}`,
		body: {
			...OF_BID,
			id: `019a974b-3952-7f83-96fc-6f71fb13ff1${at}`,
			at: 1_763_474_880_850,
			hash: `5f1e9d8ef8ca55bdaea171e298b9031${at}`,
			reason,
			bidMicros: 320_000,
			texts: TEXTS,
		},
		stored: { reason, revenue_micros: 0 },
	})),
	{
		of: "7cb0e7f7, with rules",
		body: {
			...OF_BID,
			...OF_USER,
			id: "019a974b-3952-7f83-96fc-6f71fb13ff21",
			at: 1_763_474_880_850,
			hash: "5f1e9d8ef8ca55bdaea171e298b90321",
			flags: ["data_centre", "other_device"],
			bidMicros: 320_000,
			texts: TEXTS,
			connection: "317921512593d5e3",
			keyword: "shoes",
			askedFrom: "2001:db8:2::/48",
		},
		stored: { ...PAID, flags: "data_centre other_device" },
	},
	{
		of: "62cbb1c4, with terms",
		body: {
			...OF_BID,
			...OF_USER,
			...TERMS,
			id: "019a974b-3952-7f83-96fc-6f71fb13ff22",
			at: 1_763_474_880_850,
			hash: "5f1e9d8ef8ca55bdaea171e298b90322",
			campaignCountry: "CA",
			texts: TEXTS,
		},
		stored: PAID,
	},
	{
		of: "b89fb794, with a keyword's class, which no version has any more",
		body: {
			...OF_BID,
			...TERMS,
			id: "019a974b-3952-7f83-96fc-6f71fb13ff23",
			at: 1_763_474_880_850,
			hash: "5f1e9d8ef8ca55bdaea171e298b90323",
			link: "homepage",
			sourceHash: "Vh0zw",
			keywordClass: "k1",
		},
		stored: PAID,
	},
	{
		of: "c6376096, with a connection of one part",
		body: {
			...OF_BID,
			...OF_USER,
			...TERMS,
			id: "019a974b-3952-7f83-96fc-6f71fb13ff24",
			at: 1_763_474_880_850,
			hash: "5f1e9d8ef8ca55bdaea171e298b90324",
			platformId: 1,
			texts: TEXTS,
			link: "deeplink",
			sourceHash: "Vh0zw",
			connection: "317921512593d5e4",
		},
		stored: PAID,
	},
	{
		of: "1b370216, with site and network",
		body: {
			...OF_BID,
			...OF_USER,
			...TERMS,
			id: "019a974b-3952-7f83-96fc-6f71fb13ff25",
			at: 1_763_474_880_850,
			hash: "5f1e9d8ef8ca55bdaea171e298b90325",
			platformId: 1,
			texts: TEXTS,
			link: "homepage",
			sourceHash: "Vh0zw",
			connection: "d32ea439b0f0e329",
			network: "02",
			erased: true,
		},
		stored: PAID,
	},
];

/** Requests that were counted. @param at when: old counts are not taken any more */
export function earlierCounts(at: number): unknown[] {
	const hour = Math.floor(at / 3_600_000);
	const time = at.toString(16).padStart(12, "0");
	const idOf = (last: string) => `${time.slice(0, 8)}-${time.slice(8)}-7da7-8051-7bb623acb9${last}`;
	return [
		{
			kind: "bid_counts",
			format: 1,
			id: idOf("31"),
			at,
			counts: [
				[hour, "openrtb", "identity-cpa", "bid", 3],
				[hour, "serving-engine", "id-cpa", "no_campaign", 2],
			],
		},
		{
			kind: "bid_counts",
			format: 1,
			id: idOf("32"),
			at,
			counts: [[hour, "notice", "identity-cpa", "won", 1]],
		},
	];
}

const RECEIVED = '{"message":"Postback received successfully"}';
const REJECTED = '{"message":"The given data was invalid.","errors":{"cid":["The cid field is required."]},"error_code":1}';

function intake(serial: string, txnid: string, fields: object = {}) {
	return {
		id: `019a974b-8420-7259-a72f-311a119dc0${serial}`,
		receivedAt: 1_763_474_900_000,
		platform: "west",
		method: "GET",
		query: `txnid=${txnid}&payout=10`,
		txnid,
		cid: "5f1e9d8ef8ca55bdaea171e298b90301",
		outcome: "accepted",
		answer: RECEIVED,
		...fields,
	};
}

function said(txnid: string) {
	return {
		txnid,
		cid: "5f1e9d8ef8ca55bdaea171e298b90301",
		eventAt: 1_763_474_890_000,
		payoutMicros: 10_000_000,
		salesMicros: 50_000_000,
		currency: null,
		status: "approved",
		s2: "x",
		s3: "y",
		surl: "https://shop.example/",
	};
}

const received = (serial: string, txnid: string, fields: object = {}) => ({
	format: 1,
	kind: "postback",
	intake: intake(serial, txnid, fields),
	postback: said(txnid),
});

/** Messages of the queue `postbacks`, and the transactions that they settle. */
export const EARLIER_POSTBACKS: readonly { of: string; body: object; settles: readonly string[] }[] = [
	{ of: "0.1.0", body: received("01", "one"), settles: ["one"] },
	{
		of: "0.1.0, together",
		body: { format: 1, kind: "together", items: [received("02", "two"), received("03", "three")] },
		settles: ["two", "three"],
	},
	{
		of: "0.1.0, rejected",
		body: {
			format: 1,
			kind: "postback",
			intake: intake("04", "four", { cid: null, outcome: "rejected", answer: REJECTED }),
			postback: null,
		},
		settles: [],
	},
	{
		of: "0.1.0, of an unknown key",
		body: {
			format: 1,
			kind: "postback",
			intake: intake("05", "five", { platform: null, outcome: "unknown_key", answer: REJECTED }),
			postback: null,
		},
		settles: [],
	},
	{
		of: "0.1.0, not kept",
		body: { format: 1, kind: "postback", intake: intake("06", "six", { outcome: "failed", answer: REJECTED }), postback: null },
		settles: [],
	},
	{ of: "0.1.0, to be looked at again", body: { format: 1, kind: "look_again", platform: "west", txnid: "one" }, settles: ["one"] },
	{
		of: "39419b05, whose key could not be looked up",
		body: {
			format: 1,
			kind: "unclaimed",
			// SHA-256 of the platform's key.
			keyHash: "640452e69f406a963aa013ebf78cde8e5687f26af7ad1afec4e54b113e79a109",
			sent: "",
			signature: null,
			address: null,
			intake: intake("07", "seven", { platform: null }),
			postback: said("seven"),
		},
		settles: ["seven"],
	},
	{ of: "c9d98d07, of a statement", body: received("08", "eight", { method: "STATEMENT" }), settles: ["eight"] },
];

/** A message of the queue `callbacks`. */
export const earlierCallback = (id: string) => ({ format: 1, id });

/** What 0.1.0 wrote of campaigns that are paused: without a version, and no head beside it. */
export const EARLIER_PAUSES = '{"format":1,"campaigns":[11]}';

/**
 * The campaign book of 0.1.0, by key: of a publisher with a block; a brand with a keyword and a deeplink; one with an
 * alias, and no hour; and the blocked one.
 */
export const EARLIER_BOOK: Readonly<Record<string, string>> = {
	"book:manifest":
		'{"format":1,"version":1,"publishedAt":1795915009902,"bits":0,"shards":"SWMYyJ_yJcLc","publishers":[{"id":"acme' +
		'","pubi":"1001","rtb":"acme_rtb","identity":"acme_rtb","seat":"seat-1","share":500000,"blocked":{"blocked.exam' +
		'ple":[]}}]}',
	"book:s:0:0:SWMYyJ_yJcLc": [
		"book 1",
		'd blocked.example\t[{"i":3,"d":"blocked.example","c":[{"i":5003,"o":"US","p":7,"h":"https://track.example/c?sub' +
			'={click_id}","e":400000}]}]',
		'd hats.example\t[{"i":2,"d":"hats.example","a":["hats.test"],"c":[{"i":5002,"o":"US","p":7,"h":"https://track.e' +
			'xample/c?sub={click_id}","e":400000,"t":"UTC","m":0}]}]',
		'd hats.test\t[{"i":2,"d":"hats.example","a":["hats.test"],"c":[{"i":5002,"o":"US","p":7,"h":"https://track.exam' +
			'ple/c?sub={click_id}","e":400000,"t":"UTC","m":0}]}]',
		'd shoes.example\t[{"i":1,"d":"shoes.example","c":[{"i":5001,"o":"US","p":7,"h":"https://track.example/c?sub={cl' +
			'ick_id}","l":"https://track.example/d?sub={click_id}&u={url}","v":1,"e":400000,"k":{"running shoes":500000}}]}' +
			"]",
		'k running shoes\t[{"i":1,"d":"shoes.example","c":[{"i":5001,"o":"US","p":7,"h":1,"l":1,"v":1,"k":{"running shoe' + 's":500000}}]}]',
		"",
	].join("\n"),
};
