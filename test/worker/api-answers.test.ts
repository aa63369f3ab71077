/**
 * Real answers against /openapi.json and /openapi-operator.json: each call's status, media type and body are ones that the description
 * names, and the answer that it shows as an example is of the form of a real one.
 */
import { env, exports } from "cloudflare:workers";
import { dereference, type Schema, validate } from "@cfworker/json-schema";
import { beforeAll, describe, expect, test, vi } from "vitest";
import example from "../../scripts/examples/network.json";
import { sweepDays } from "../../src/days/sweep-days.ts";
import { openDatabase } from "../../src/db/client.ts";
import { sweepLedger } from "../../src/ledger-check/sweep-ledger.ts";
import { keepLearned } from "../support/learned-rows.ts";
import "../support/worker-env.ts";

type Content = { schema: Schema; example?: unknown };
type Answer = { description: string; headers?: Record<string, { description: string }>; content?: Record<string, Content> };
type Described = { operationId: string; responses: Record<string, Answer> };
type Description = { paths: Record<string, Record<string, Described>>; components: Record<string, unknown> };

/** How a call is told from others: the operation it exercises, and the answer it should get. */
type Call = {
	id: string;
	status: number;
	/** Another one than the operation's. */
	method?: string;
	/** A function where it is known once the sale of `sell` was made. */
	path?: string | (() => string);
	headers?: Record<string, string>;
	/** A function, likewise, where it is known then. */
	body?: string | (() => string);
	type?: string;
	/** The publisher's callback address from here on. */
	callbackUrl?: string;
	/** Lists of the answer that must not be empty: a schema says nothing of records that are not there. */
	holds?: readonly string[];
};

const ACCESS = { AccessKey: "access-key-acme" };
const PUBLISHER = { PublisherKey: "publisher-key-acme" };
const OPERATOR = { OperatorKey: env.OPERATOR_KEY };
const FORM = "application/x-www-form-urlencoded";
/** The example network, with keys that are known here. */
const networkText = JSON.stringify({
	...example,
	epc_learning: { mode: "advise" },
	platforms: example.platforms.map((platform) => ({ ...platform, access_key: "platform-key-northwind" })),
	publishers: example.publishers.map((publisher) => ({
		...publisher,
		access_key: ACCESS.AccessKey,
		publisher_key: PUBLISHER.PublisherKey,
		// Tests call nobody.
		callback_url: null,
	})),
	seller_products: [
		{
			asin: "B000TEST01",
			domain: "kettles.example",
			seller_id: "S-77",
			seller_name: "Example Outfitters",
			name: "Steel water bottle",
			current_price: "19.9900",
			stock_availability: "InStock",
			url: "https://kettles.example/dp/B000TEST01",
		},
	],
});
const BID = { id: "auction-1", imp: [{ id: "1" }], site: { domain: "kettles.example" } };
const POSTBACK = "txnid=t-1&cid=0123456789abcdef0123456789abcdef&edate=2026-11-20&payout=1.50";
/** Around the sale, whenever the test runs. */
const PERIOD = `start_date=${dayFromNow(-1)}&end_date=${dayFromNow(1)}`;
const FEED = "id,title,link,price\nKET-2,Stove kettle,https://kettles.example/p/ket-2,24.90 USD\n";
const SELLER_FEED = "asin,seller_id,name,url,domain\nB000TEST02,S-77,Stove kettle,https://kettles.example/dp/B000TEST02,kettles.example\n";
const REVALUE = { id: "revalue-2026-11", currency: "EUR", from: "2026-11-01", to: "2026-11-07", text: "corrected" };
const NOW = "2026-11-18T15:00:00.000Z";
const SALE = "/operator/conversions/harvestlink/sale-1";
const STATEMENT = "Transaction ID,Click Ref,Transaction Date,Commission,Status\nlost-1,x,2026-11-20,12.00,approved\n";

/** Cursors that nobody was given, as feeds of changes write them. */
const OLD_CONVERSIONS = btoa('["changes",0,"",""]').replaceAll("=", "");
const OLD_BRANDS = btoa('["changes","x",1,1]').replaceAll("=", "");

function dayFromNow(days: number): string {
	return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

/** A click URL of a bid that was clicked, and whose click made a sale. */
let clickUrl = "";
/** An import that changed a rate. */
let importId = "";

const LINKS = JSON.stringify({ urls: ["https://kettles.example/p/1", "https://unknown.example/"] });
/** What an Access Key opens, and a method that it does not take. */
const OWN = [
	...["readAccount", "listConversions", "readEarnings", "findBrands", "followBrands", "followConversions", "listOwnCallbacks"].map(
		(id) => [id, "POST"] as const,
	),
	...["makeLinks", "explainOwnBid", "testOwnCallback", "replayOwnCallback", "replayOwnCallbacks", "replyToClaim", "withdrawClaim"].map(
		(id) => [id, "GET"] as const,
	),
	...["listOwnClaims", "openClaim"].map((id) => [id, "PUT"] as const),
];

const CALLS: readonly Call[] = [
	{ id: "bidOpenRtb", status: 200, path: "/openrtb/kitchen_notes", body: JSON.stringify(BID) },
	{ id: "bidOpenRtb", status: 204, path: "/openrtb/kitchen_notes", body: JSON.stringify({ ...BID, site: { domain: "unknown.example" } }) },
	{ id: "bidOpenRtb", status: 400, path: "/openrtb/kitchen_notes", body: "{" },
	{ id: "bidOpenRtb", status: 400, path: "/openrtb/not%20one", body: JSON.stringify(BID) },
	{ id: "bidOpenRtb", status: 413, path: "/openrtb/kitchen_notes", body: " ".repeat(300_000) },
	{ id: "bidServingEngine", status: 200, path: "/serving-engine?pubi=2001&bd=kettles.example&cc=US" },
	{ id: "bidServingEngine", status: 200, path: "/serving-engine?pubi=2001&bd=unknown.example&cc=US" },
	{ id: "bidServingEngine", status: 200, path: "/serving-engine?pubi=2001&cc=US" },
	{ id: "noteBid", status: 204, path: "/notice/kitchen_notes/won?price=0.4" },
	{ id: "noteBid", status: 404, path: "/notice/kitchen_notes/bought" },
	{ id: "noteBid", status: 405, method: "POST", path: "/notice/kitchen_notes/won" },
	{ id: "followClick", status: 302, path: () => clickUrl },
	{ id: "followClick", status: 404, path: "/click?encyp=other" },
	{ id: "followClick", status: 404, path: "/click" },
	{ id: "listBrands", status: 200, headers: ACCESS, holds: ["data"] },
	{ id: "listBrands", status: 304, headers: { ...ACCESS, "if-none-match": "*" } },
	{
		id: "listBrandsByTrafficType",
		status: 304,
		path: "/api/brands-list-by-traffic-type?traffic_type=all",
		headers: { ...ACCESS, "if-none-match": "*" },
	},
	{ id: "listBrands", status: 401 },
	{
		id: "listBrandsByTrafficType",
		status: 200,
		path: "/api/brands-list-by-traffic-type?traffic_type=all",
		headers: ACCESS,
		holds: ["data"],
	},
	{ id: "listBrandsByTrafficType", status: 200, path: "/api/brands-list-by-traffic-type?traffic_type=Email", headers: ACCESS },
	{ id: "listBrandsByTrafficType", status: 400, headers: ACCESS },
	{ id: "listBrandsByTrafficType", status: 401 },
	...["listBrands", "listBrandsByTrafficType", "searchProducts", "searchSellerProducts"].map((id) => ({ id, status: 405, method: "POST" })),
	...["reportRevenueShare", "reportClickLevel"].map((id) => ({ id, status: 405, method: "GET" })),
	...["receivePostback", "receivePostbackForm", "bidOpenRtb", "followClick"].map((id) => ({ id, status: 405, method: "DELETE" })),
	...["daywise", "source_level", "clickid_level"].map((type) => ({
		id: "reportRevenueShare",
		status: 200,
		headers: ACCESS,
		body: `report_type=${type}&${PERIOD}`,
		type: FORM,
		holds: ["data"],
	})),
	{ id: "reportRevenueShare", status: 200, headers: { ...ACCESS, accept: "text/csv" }, body: `report_type=daywise&${PERIOD}`, type: FORM },
	{ id: "reportRevenueShare", status: 200, headers: ACCESS, body: `report_type=clickid_level&detail=1&${PERIOD}`, type: FORM },
	{ id: "reportRevenueShare", status: 401, body: PERIOD, type: FORM },
	{ id: "reportRevenueShare", status: 415, headers: ACCESS, body: "<fields/>", type: "application/xml" },
	{ id: "reportRevenueShare", status: 413, headers: ACCESS, body: "a".repeat(100_000), type: FORM },
	{ id: "reportRevenueShare", status: 422, headers: ACCESS, body: "report_type=weekly", type: FORM },
	{ id: "reportClickLevel", status: 200, headers: ACCESS, body: PERIOD, type: FORM, holds: ["data"] },
	{ id: "reportClickLevel", status: 200, headers: { ...ACCESS, accept: "text/csv" }, body: PERIOD, type: FORM },
	{ id: "reportClickLevel", status: 200, headers: ACCESS, body: `detail=1&${PERIOD}`, type: FORM },
	{ id: "reportClickLevel", status: 401, body: PERIOD, type: FORM },
	{ id: "reportClickLevel", status: 422, headers: ACCESS, body: "", type: FORM },
	{ id: "listClicks", status: 200, path: "/api/clicks?limit=10", headers: ACCESS, holds: ["data"] },
	{ id: "listClicks", status: 200, path: "/api/clicks?reason=country&from=2026-11-01&to=2026-11-30", headers: ACCESS },
	{ id: "listNoBids", status: 200, headers: ACCESS, holds: ["data"] },
	{
		id: "tellAuctions",
		status: 200,
		headers: ACCESS,
		body: `{"auctions":[{"id":"auction-1","loss":102,"price":"0.42"},{"id":"auction-2","loss":0}]}`,
	},
	{ id: "tellAuctions", status: 401, body: "{}" },
	{ id: "tellAuctions", status: 405, method: "GET" },
	{ id: "tellAuctions", status: 413, headers: ACCESS, body: " ".repeat(1_000_000) },
	{ id: "tellAuctions", status: 422, headers: ACCESS, body: `{"auctions":[]}` },
	{ id: "listNoBids", status: 401 },
	{ id: "listNoBids", status: 405, method: "POST" },
	{ id: "listNoBids", status: 422, path: "/api/no-bids?from=x", headers: ACCESS },
	{ id: "listClicks", status: 401 },
	{ id: "listClicks", status: 405, method: "POST" },
	{ id: "listClicks", status: 422, path: "/api/clicks?reason=fraud", headers: ACCESS },
	{ id: "followConversions", status: 200, headers: ACCESS, holds: ["data"] },
	{ id: "followConversions", status: 410, path: `/api/conversions/changes?after=${OLD_CONVERSIONS}`, headers: ACCESS },
	{ id: "followConversions", status: 422, path: "/api/conversions/changes?after=x", headers: ACCESS },
	{ id: "followBrands", status: 200, headers: ACCESS, holds: ["data"] },
	{ id: "followBrands", status: 410, path: `/api/brands/changes?after=${OLD_BRANDS}`, headers: ACCESS },
	{ id: "followBrands", status: 422, path: "/api/brands/changes?limit=0", headers: ACCESS },
	{ id: "listClicks", status: 200, path: "/api/clicks?id=my-click-1", headers: ACCESS, holds: ["data"] },
	{ id: "readAccount", status: 200, headers: ACCESS, holds: ["names", "keys"] },
	{ id: "listConversions", status: 200, headers: ACCESS, holds: ["data"] },
	{ id: "listConversions", status: 422, path: "/api/conversions?cursor=W10", headers: ACCESS },
	{ id: "readEarnings", status: 200, path: "/api/earnings?group=day,brand", headers: ACCESS, holds: ["data"] },
	{ id: "readEarnings", status: 200, path: "/api/earnings?group=source", headers: ACCESS, holds: ["data"] },
	{ id: "readEarnings", status: 422, path: "/api/earnings?group=campaign", headers: ACCESS },
	{ id: "findBrands", status: 200, path: "/api/brands?country=us", headers: ACCESS, holds: ["data"] },
	{ id: "findBrands", status: 422, path: "/api/brands?min_price=much", headers: ACCESS },
	{ id: "makeLinks", status: 200, headers: ACCESS, body: LINKS },
	{ id: "makeLinks", status: 413, headers: ACCESS, body: " ".repeat(5_000_000) },
	{ id: "makeLinks", status: 422, headers: ACCESS, body: `{"urls":[]}` },
	{ id: "explainOwnBid", status: 200, headers: ACCESS, body: `{"query":"bd=kettles.example&cc=US"}` },
	{ id: "explainOwnBid", status: 200, headers: ACCESS, body: JSON.stringify(BID) },
	{ id: "explainOwnBid", status: 413, headers: ACCESS, body: " ".repeat(300_000) },
	{ id: "explainOwnBid", status: 422, headers: ACCESS, body: "[]" },
	{ id: "listOwnCallbacks", status: 200, path: "/api/callbacks?id=c", headers: ACCESS, holds: ["data"] },
	{ id: "listOwnCallbacks", status: 422, path: "/api/callbacks?state=lost", headers: ACCESS },
	{ id: "replayOwnCallback", status: 200, path: "/api/callbacks/c/replay", headers: ACCESS, body: "" },
	{ id: "replayOwnCallback", status: 404, path: "/api/callbacks/other/replay", headers: ACCESS, body: "" },
	{ id: "replayOwnCallback", status: 413, path: "/api/callbacks/c/replay", headers: ACCESS, body: " ".repeat(100_000) },
	{ id: "replayOwnCallback", status: 422, path: "/api/callbacks/c/replay", headers: ACCESS, body: `{"dry_run":true}` },
	{ id: "replayOwnCallbacks", status: 200, headers: ACCESS, body: `{"from":"2026-11-18","state":"due","dry_run":true}` },
	{ id: "replayOwnCallbacks", status: 413, headers: ACCESS, body: " ".repeat(100_000) },
	{ id: "replayOwnCallbacks", status: 422, headers: ACCESS, body: "{}" },
	{ id: "listOwnClaims", status: 200, headers: ACCESS, holds: ["data"] },
	{ id: "listOwnClaims", status: 422, path: "/api/claims?state=lost", headers: ACCESS },
	{ id: "openClaim", status: 200, headers: ACCESS, body: `{"kind":"missing","id":"nothing","text":"t"}` },
	{ id: "openClaim", status: 413, headers: ACCESS, body: " ".repeat(100_000) },
	{ id: "openClaim", status: 422, headers: ACCESS, body: "{}" },
	{ id: "replyToClaim", status: 200, path: "/api/claims/claim-1/reply", headers: ACCESS, body: `{"text":"more"}` },
	{ id: "replyToClaim", status: 404, path: "/api/claims/none/reply", headers: ACCESS, body: `{"text":"more"}` },
	{ id: "replyToClaim", status: 412, path: "/api/claims/claim-0/reply", headers: ACCESS, body: `{"text":"more"}` },
	{ id: "replyToClaim", status: 413, path: "/api/claims/claim-1/reply", headers: ACCESS, body: " ".repeat(100_000) },
	{ id: "replyToClaim", status: 422, path: "/api/claims/claim-1/reply", headers: ACCESS, body: "{}" },
	{ id: "withdrawClaim", status: 200, path: "/api/claims/claim-2/withdraw", headers: ACCESS, body: "" },
	{ id: "withdrawClaim", status: 404, path: "/api/claims/none/withdraw", headers: ACCESS, body: "" },
	{ id: "withdrawClaim", status: 412, path: "/api/claims/claim-0/withdraw", headers: ACCESS, body: "" },
	{ id: "withdrawClaim", status: 413, path: "/api/claims/none/withdraw", headers: ACCESS, body: " ".repeat(100_000) },
	{ id: "withdrawClaim", status: 422, path: "/api/claims/none/withdraw", headers: ACCESS, body: `{"text":"t"}` },
	{ id: "testOwnCallback", status: 200, headers: ACCESS, body: "" },
	{ id: "testOwnCallback", status: 413, headers: ACCESS, body: " ".repeat(100_000) },
	{ id: "testOwnCallback", status: 422, headers: ACCESS, body: "", callbackUrl: "https://127.0.0.1/" },
	...OWN.flatMap(([id, other]) => [
		{ id, status: 401 },
		{ id, status: 405, method: other },
	]),
	{ id: "listDays", status: 200, path: "/api/days?from=2020-01-01", headers: ACCESS, holds: ["data"] },
	{ id: "listDays", status: 401 },
	{ id: "listDays", status: 405, method: "POST" },
	{ id: "listDays", status: 422, path: "/api/days?from=soon", headers: ACCESS },
	{ id: "searchProducts", status: 200, path: "/api/products/search?keyword=kettle", headers: PUBLISHER, holds: ["results"] },
	{ id: "searchProducts", status: 200, path: "/api/products/search?keyword=nothing", headers: PUBLISHER },
	{ id: "searchProducts", status: 401, path: "/api/products/search?keyword=kettle" },
	{ id: "searchProducts", status: 422, headers: PUBLISHER },
	{
		id: "searchSellerProducts",
		status: 200,
		path: "/api/marketplace-seller-products/search?q=bottle",
		headers: PUBLISHER,
		holds: ["results"],
	},
	{ id: "searchSellerProducts", status: 401 },
	{ id: "searchSellerProducts", status: 422, headers: PUBLISHER },
	{ id: "receivePostback", status: 200, path: `/api/postback/platform-key-northwind?${POSTBACK}` },
	{ id: "receivePostback", status: 200, path: "/api/postback/platform-key-northwind?payout=much" },
	{ id: "receivePostback", status: 200, path: `/api/postback/nobody?${POSTBACK}` },
	{ id: "receivePostbackForm", status: 200, path: "/api/postback/platform-key-northwind", body: POSTBACK, type: FORM },
	{ id: "importNetwork", status: 200, headers: OPERATOR, body: networkText },
	{ id: "importNetwork", status: 401, body: "{}" },
	{ id: "importNetwork", status: 412, headers: { ...OPERATOR, "If-Match": '"1"' }, body: "{}" },
	{ id: "exportNetwork", status: 200, path: "/operator/network?sections=platforms,exchange_rates", headers: OPERATOR },
	{ id: "exportNetwork", status: 401 },
	{ id: "exportNetwork", status: 422, path: "/operator/network?sections=all", headers: OPERATOR },
	{ id: "listImports", status: 200, headers: OPERATOR, holds: ["data"] },
	{ id: "listImports", status: 401 },
	{ id: "listImports", status: 422, path: "/operator/network/imports?cursor=x", headers: OPERATOR },
	{ id: "showImport", status: 200, path: () => `/operator/network/imports/${importId}`, headers: OPERATOR },
	{ id: "showImport", status: 401, path: "/operator/network/imports/0" },
	{ id: "showImport", status: 404, path: "/operator/network/imports/0", headers: OPERATOR },
	{ id: "showImport", status: 422, path: "/operator/network/imports/0?limit=1", headers: OPERATOR },
	{ id: "undoImport", status: 200, headers: OPERATOR, body: () => JSON.stringify({ import: importId }) },
	{ id: "undoImport", status: 401, body: "{}" },
	{ id: "undoImport", status: 422, headers: OPERATOR, body: "{}" },
	...[
		["platforms", "Platform", "harvestlink", { max_payout: "500.00" }] as const,
		["publishers", "Publisher", "kitchen-notes", { bid_pay_minutes: 60 }] as const,
		["brands", "Brand", "kettles.example", { new_deal: false }] as const,
		["campaigns", "Campaign", "9001", { commission_rate: "7% CPS" }] as const,
	].flatMap(([section, noun, id, fields]): Call[] => [
		{ id: `list${noun}Entries`, status: 200, headers: OPERATOR, holds: ["data"] },
		{ id: `list${noun}Entries`, status: 401 },
		{ id: `list${noun}Entries`, status: 422, path: `/operator/${section}?limit=none`, headers: OPERATOR },
		{ id: `show${noun}Entry`, status: 200, path: `/operator/${section}/${id}`, headers: OPERATOR },
		{ id: `show${noun}Entry`, status: 401, path: `/operator/${section}/${id}` },
		{ id: `show${noun}Entry`, status: 404, path: `/operator/${section}/0`, headers: OPERATOR },
		{ id: `change${noun}Entry`, status: 200, path: `/operator/${section}/${id}`, headers: OPERATOR, body: JSON.stringify(fields) },
		{ id: `change${noun}Entry`, status: 401, path: `/operator/${section}/${id}`, body: "{}" },
		{ id: `change${noun}Entry`, status: 404, path: `/operator/${section}/0`, headers: OPERATOR, body: "{}" },
		{ id: `change${noun}Entry`, status: 412, path: `/operator/${section}/${id}`, headers: { ...OPERATOR, "If-Match": '"x"' }, body: "{}" },
		{ id: `change${noun}Entry`, status: 422, path: `/operator/${section}/${id}`, headers: OPERATOR, body: `{"colour":"red"}` },
	]),
	{ id: "importNetwork", status: 422, headers: OPERATOR, body: `{"brands":[{"domain":"?"}]}` },
	{ id: "explainBid", status: 200, headers: OPERATOR, body: JSON.stringify({ publisher_identity: "kitchen_notes", request: BID }) },
	...[
		{ publisher_identity: "kitchen_notes", request: { ...BID, site: { domain: "unknown.example" } } },
		{ publisher_identity: "kitchen_notes", request: {} },
		{ publisher_id: "2001", query: { bd: "kettles.example", cc: "US" } },
		{ publisher_id: "2001", query: { cc: "US" } },
	].map((question) => ({ id: "explainBid", status: 200, headers: OPERATOR, body: JSON.stringify(question) })),
	{ id: "explainBid", status: 401, body: "{}" },
	{ id: "explainBid", status: 413, headers: OPERATOR, body: " ".repeat(2_000_000) },
	{ id: "explainBid", status: 422, headers: OPERATOR, body: "[]" },
	{ id: "explainBid", status: 422, headers: OPERATOR, body: `{"publisher_id":"2001","query":[]}` },
	{ id: "readLearning", status: 200, headers: OPERATOR, holds: ["platforms"] },
	{ id: "readLearning", status: 401 },
	{ id: "readLearning", status: 422, path: "/operator/learning?limit=1", headers: OPERATOR },
	{ id: "readLearnedPrices", status: 200, path: "/operator/learning/prices?campaign=9001", headers: OPERATOR, holds: ["data", "numbers"] },
	{ id: "readLearnedPrices", status: 401 },
	{ id: "readLearnedPrices", status: 422, path: "/operator/learning/prices?campaign=x", headers: OPERATOR },
	{ id: "listAdvice", status: 200, headers: OPERATOR, holds: ["data"] },
	{ id: "listAdvice", status: 401 },
	{ id: "listAdvice", status: 422, path: "/operator/learning/advice?cursor=x", headers: OPERATOR },
	{ id: "acceptAdvice", status: 200, path: "/operator/learning/advice/accept?dry_run=1", headers: OPERATOR, body: `{"campaigns":"all"}` },
	{ id: "acceptAdvice", status: 401, body: "{}" },
	{ id: "acceptAdvice", status: 412, headers: { ...OPERATOR, "If-Match": '"1"' }, body: `{"campaigns":"all"}` },
	{ id: "acceptAdvice", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "acceptAdvice", status: 422, headers: OPERATOR, body: "{}" },
	{ id: "rebuildLearning", status: 200, headers: OPERATOR, body: "{}" },
	{ id: "rebuildLearning", status: 401, body: "{}" },
	{ id: "rebuildLearning", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "rebuildLearning", status: 422, headers: OPERATOR, body: `{"cursor":"x"}` },
	{ id: "rebuildLearning", status: 422, headers: OPERATOR, body: `{"cursor":"2026-02-30"}` },
	{ id: "readStatus", status: 200, headers: OPERATOR },
	{ id: "readStatus", status: 401 },
	{ id: "readStatus", status: 422, path: "/operator/status?limit=1", headers: OPERATOR },
	{
		id: "readNetworkReport",
		status: 200,
		path: "/operator/reports?group=day,brand&from=2026-01-01&to=2026-01-01",
		headers: OPERATOR,
		holds: ["data"],
	},
	{ id: "listNetworkClicks", status: 200, path: "/operator/clicks?limit=1", headers: OPERATOR },
	{ id: "listNetworkClicks", status: 401 },
	{ id: "listNetworkClicks", status: 422, path: "/operator/clicks?reason=no", headers: OPERATOR },
	{ id: "readNetworkReport", status: 401 },
	{ id: "readNetworkReport", status: 422, path: "/operator/reports?group=source,hour", headers: OPERATOR },
	{ id: "readBids", status: 200, path: "/operator/bids?group=publisher,reason", headers: OPERATOR, holds: ["data"] },
	{ id: "readBids", status: 401 },
	{ id: "readAuctionFeedback", status: 200, path: "/operator/auction-feedback?group=publisher,loss", headers: OPERATOR, holds: ["data"] },
	{ id: "readAuctionFeedback", status: 401 },
	{ id: "readAuctionFeedback", status: 422, path: "/operator/auction-feedback?group=brand", headers: OPERATOR },
	{ id: "readBids", status: 422, path: "/operator/bids?cursor=x", headers: OPERATOR },
	{ id: "reconcileSums", status: 200, headers: OPERATOR, body: `{"from":"${dayFromNow(-1)}"}` },
	{ id: "reconcileSums", status: 401, body: "{}" },
	{ id: "reconcileSums", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "reconcileSums", status: 422, headers: OPERATOR, body: `{"from":"2026-02-30"}` },
	{ id: "revalueRates", status: 200, headers: OPERATOR, body: JSON.stringify(REVALUE) },
	{ id: "revalueRates", status: 401, body: "{}" },
	{ id: "revalueRates", status: 412, headers: OPERATOR, body: JSON.stringify({ ...REVALUE, from: "2026-11-02" }) },
	{ id: "revalueRates", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "revalueRates", status: 422, headers: OPERATOR, body: JSON.stringify({ ...REVALUE, currency: "USD" }) },
	{ id: "checkLedger", status: 200, headers: OPERATOR, body: "{}" },
	{ id: "checkLedger", status: 401, body: "{}" },
	{ id: "checkLedger", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "checkLedger", status: 422, headers: OPERATOR, body: `{"cursor":"?"}` },
	{ id: "importProducts", status: 200, headers: OPERATOR, body: FEED, type: "text/csv" },
	{
		id: "importProducts",
		status: 200,
		path: "/operator/products?replace=domains",
		headers: OPERATOR,
		body: `${FEED}KET-3,,,\n`,
		type: "text/csv",
	},
	{ id: "importProducts", status: 401, body: FEED, type: "text/csv" },
	{ id: "importProducts", status: 422, path: "/operator/products?replace=some", headers: OPERATOR, body: FEED, type: "text/csv" },
	...["constructor", "__proto__", "toString"].map((word) => ({
		id: "importProducts",
		status: 422,
		path: `/operator/products?replace=${word}`,
		headers: OPERATOR,
		body: FEED,
		type: "text/csv",
	})),
	{ id: "importProducts", status: 422, headers: OPERATOR, body: "colour\nblue\n", type: "text/csv" },
	{ id: "importSellerProducts", status: 200, headers: OPERATOR, body: SELLER_FEED, type: "text/csv" },
	{ id: "importSellerProducts", status: 401, body: SELLER_FEED, type: "text/csv" },
	{ id: "importSellerProducts", status: 422, headers: OPERATOR, body: "colour\nblue\n", type: "text/csv" },
	{ id: "traceConversion", status: 200, headers: OPERATOR, body: `{"id":"sale-1"}`, holds: ["clicks", "postbacks", "conversions"] },
	{ id: "traceConversion", status: 200, headers: OPERATOR, body: `{"id":"nothing"}` },
	{ id: "traceConversion", status: 401, body: `{"id":"sale-1"}` },
	{ id: "traceConversion", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "traceConversion", status: 422, headers: OPERATOR, body: `{"id":""}` },
	{ id: "listDeadLetters", status: 200, headers: OPERATOR, holds: ["letters"] },
	{ id: "listDeadLetters", status: 200, path: "/operator/replay?queue=postbacks&limit=1", headers: OPERATOR },
	{ id: "listDeadLetters", status: 401 },
	{ id: "listDeadLetters", status: 422, path: "/operator/replay?queue=others", headers: OPERATOR },
	{ id: "replayDeadLetters", status: 200, headers: OPERATOR, body: `{"dry_run":true}` },
	{ id: "replayDeadLetters", status: 200, headers: OPERATOR, body: `{"queue":"postbacks","until":"${NOW}"}` },
	{ id: "replayDeadLetters", status: 401, body: "{}" },
	{ id: "replayDeadLetters", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "replayDeadLetters", status: 422, headers: OPERATOR, body: `{"queue":"others"}` },
	{ id: "eraseUser", status: 200, path: "/operator/erase?dry_run=1", headers: OPERATOR, body: `{"uid":"nobody"}` },
	{ id: "eraseUser", status: 401, body: "{}" },
	{ id: "eraseUser", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "eraseUser", status: 422, headers: OPERATOR, body: "{}" },
	{ id: "listClaims", status: 200, headers: OPERATOR, holds: ["data"] },
	{ id: "listClaims", status: 401 },
	{ id: "listClaims", status: 422, path: "/operator/claims?limit=0", headers: OPERATOR },
	...["answer", "decline", "grant"].flatMap((verb, at) => {
		const id = `${verb}Claim`;
		const body = `{"text":"t"${verb === "grant" ? `,"by":{"kind":"amount","date":"2026-11-01","amount":"1.00"}` : ""}}`;
		const to = (claim: string) => ({ id, path: `/operator/claims/${claim}/${verb}`, body });
		return [
			{ ...to(`claim-${at + 3}`), status: 200, headers: OPERATOR },
			{ ...to("claim-3"), status: 401 },
			{ ...to("none"), status: 404, headers: OPERATOR },
			{ ...to("claim-0"), status: 412, headers: OPERATOR },
			{ ...to("claim-3"), status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
			{ ...to("claim-3"), status: 422, headers: OPERATOR, body: "{}" },
		];
	}),
	{ id: "listCallbacks", status: 200, headers: OPERATOR, holds: ["data"] },
	{ id: "listCallbacks", status: 401 },
	{ id: "listCallbacks", status: 422, path: "/operator/callbacks?limit=0", headers: OPERATOR },
	{ id: "listCallbacks", status: 422, path: "/operator/callbacks?transaction=t-0", headers: OPERATOR },
	{ id: "replayCallbacks", status: 200, headers: OPERATOR, body: `{"txnid":"t-0","dry_run":true}` },
	{ id: "replayCallbacks", status: 200, headers: OPERATOR, body: `{"txnid":"nothing"}` },
	{ id: "replayCallbacks", status: 401, body: "{}" },
	{ id: "replayCallbacks", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "replayCallbacks", status: 422, headers: OPERATOR, body: "{}" },
	{ id: "testCallback", status: 200, headers: OPERATOR, body: `{"url":"https://callbacks.invalid/"}` },
	{ id: "testCallback", status: 401, body: "{}" },
	{ id: "testCallback", status: 422, headers: OPERATOR, body: `{"url":"https://127.0.0.1/"}` },
	{
		id: "adjust",
		status: 200,
		headers: OPERATOR,
		body: `{"id":"answers-1","kind":"amount","publisher":"kitchen-notes","date":"2026-11-19","amount":"-2.5","text":"paid twice"}`,
	},
	{
		id: "adjust",
		status: 200,
		path: "/operator/adjustments?dry_run=1",
		headers: OPERATOR,
		body: `{"kind":"void_clicks","publisher":"kitchen-notes","text":"a farm's"}`,
	},
	{ id: "adjust", status: 401, body: "{}" },
	{
		id: "adjust",
		status: 412,
		headers: OPERATOR,
		body: `{"id":"answers-1","kind":"amount","publisher":"kitchen-notes","date":"2026-11-19","amount":"-3","text":"paid twice"}`,
	},
	{ id: "adjust", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "adjust", status: 422, headers: OPERATOR, body: `{"kind":"undo","adjustment":"none","text":"a mistake"}` },
	{ id: "listAdjustments", status: 200, headers: OPERATOR, holds: ["data"] },
	{ id: "listAdjustments", status: 401 },
	{ id: "listAdjustments", status: 422, path: "/operator/adjustments?cursor=x", headers: OPERATOR },
	{ id: "listAdjustments", status: 422, path: "/operator/adjustments?publisher=acme", headers: OPERATOR },
	{ id: "listNetworkConversions", status: 200, path: "/operator/conversions?stage=settled", headers: OPERATOR, holds: ["data"] },
	{ id: "listNetworkConversions", status: 401 },
	{ id: "listNetworkConversions", status: 422, path: "/operator/conversions?cursor=x", headers: OPERATOR },
	{ id: "showConversion", status: 200, path: SALE, headers: OPERATOR, holds: ["postbacks"] },
	{ id: "showConversion", status: 401, path: SALE },
	{ id: "showConversion", status: 404, path: "/operator/conversions/harvestlink/nothing", headers: OPERATOR },
	{ id: "showConversion", status: 422, path: `${SALE}?limit=1`, headers: OPERATOR },
	{
		id: "listCandidateClicks",
		status: 200,
		path: "/operator/conversions/harvestlink/lost-1/clicks?click=my-click-1",
		headers: OPERATOR,
		holds: ["data"],
	},
	{ id: "listCandidateClicks", status: 401, path: `${SALE}/clicks` },
	{ id: "listCandidateClicks", status: 404, path: "/operator/conversions/harvestlink/nothing/clicks?click=c", headers: OPERATOR },
	{ id: "listCandidateClicks", status: 422, path: `${SALE}/clicks`, headers: OPERATOR },
	...["attach", "release", "void", "restore"].flatMap((verb) => [
		{ id: `${verb}Conversion`, status: 401, path: `${SALE}/${verb}`, body: "{}" },
		{
			id: `${verb}Conversion`,
			status: 404,
			path: `/operator/conversions/harvestlink/nothing/${verb}`,
			headers: OPERATOR,
			body: `{${verb === "attach" ? '"click":"my-click-1",' : ""}"text":"order mail"}`,
		},
		{ id: `${verb}Conversion`, status: 413, path: `${SALE}/${verb}`, headers: OPERATOR, body: " ".repeat(100_000) },
		{ id: `${verb}Conversion`, status: 422, path: `${SALE}/${verb}`, headers: OPERATOR, body: "{}" },
	]),
	{
		id: "attachConversion",
		status: 200,
		path: "/operator/conversions/harvestlink/lost-1/attach",
		headers: OPERATOR,
		body: `{"id":"attach-2026-11","click":"my-click-1","text":"order mail"}`,
		holds: ["callbacks"],
	},
	...["void", "release", "restore"].flatMap((verb) => [
		{
			id: `${verb}Conversion`,
			status: 200,
			path: `${SALE}/${verb}`,
			headers: OPERATOR,
			body: `{"id":"${verb}-2026-11","text":"the advertiser said so"}`,
		},
		{
			id: `${verb}Conversion`,
			status: 412,
			path: `${SALE}/${verb}`,
			headers: OPERATOR,
			body: `{"id":"attach-2026-11","text":"the advertiser said so"}`,
		},
	]),
	{ id: "listPostbackProblems", status: 200, path: "/operator/problems/postbacks", headers: OPERATOR, holds: ["data"] },
	{ id: "listPostbackProblems", status: 401 },
	{ id: "listPostbackProblems", status: 422, path: "/operator/problems/postbacks?from=x", headers: OPERATOR },
	{ id: "replayPostbacks", status: 200, headers: OPERATOR, body: `{"platform":"harvestlink"}` },
	{ id: "replayPostbacks", status: 401, body: "{}" },
	{ id: "replayPostbacks", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "replayPostbacks", status: 422, headers: OPERATOR, body: "{}" },
	{ id: "replayPostbacks", status: 422, headers: OPERATOR, body: `{"platform":"harvestlink","mapping":[]}` },
	{ id: "showPostbackUrl", status: 200, path: "/operator/postback-url?platform=harvestlink", headers: OPERATOR },
	{ id: "showPostbackUrl", status: 401 },
	{ id: "showPostbackUrl", status: 422, headers: OPERATOR },
	{ id: "issuePostbackUrl", status: 200, headers: OPERATOR, body: `{"platform":"harvestlink","network":"affise"}` },
	{ id: "issuePostbackUrl", status: 401, body: "{}" },
	{ id: "issuePostbackUrl", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "issuePostbackUrl", status: 422, headers: OPERATOR, body: "{}" },
	{
		id: "reconcileStatement",
		status: 200,
		path: "/operator/reconcile?platform=harvestlink&apply=1",
		headers: OPERATOR,
		body: STATEMENT,
		type: "text/csv",
		holds: ["data"],
	},
	{ id: "reconcileStatement", status: 401, body: STATEMENT, type: "text/csv" },
	{ id: "reconcileStatement", status: 422, headers: OPERATOR, body: STATEMENT, type: "text/csv" },
	{ id: "listStatements", status: 200, headers: OPERATOR, holds: ["data"] },
	{ id: "listStatements", status: 401 },
	{ id: "listStatements", status: 422, path: "/operator/reconcile?cursor=x", headers: OPERATOR },
	{ id: "issueSignInLink", status: 200, headers: OPERATOR, body: `{"publisher":"kitchen-notes","name":"Ada Lovelace"}` },
	{ id: "issueSignInLink", status: 200, headers: OPERATOR, body: `{"staff":"grace","role":"manager","email":"grace@example.com"}` },
	{
		id: "issueSignInLink",
		status: 200,
		path: "/operator/sign-in-links?dry_run=1",
		headers: OPERATOR,
		body: `{"staff":"ida","role":"viewer"}`,
	},
	{ id: "issueSignInLink", status: 401, body: "{}" },
	{ id: "issueSignInLink", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "issueSignInLink", status: 422, headers: OPERATOR, body: `{"staff":"nobody"}` },
	{ id: "listPeople", status: 200, path: "/operator/people?publisher=kitchen-notes", headers: OPERATOR, holds: ["data"] },
	{ id: "listPeople", status: 401 },
	{ id: "listPeople", status: 422, path: "/operator/people?limit=0", headers: OPERATOR },
	{ id: "readPerson", status: 200, path: "/operator/people/person-1", headers: OPERATOR, holds: ["passkeys", "sessions"] },
	{ id: "readPerson", status: 401, path: "/operator/people/person-1" },
	{ id: "readPerson", status: 404, path: "/operator/people/nobody", headers: OPERATOR },
	{ id: "readPerson", status: 422, path: "/operator/people/person-1?limit=1", headers: OPERATOR },
	{ id: "changeRole", status: 200, path: "/operator/people/person-1/role?dry_run=1", headers: OPERATOR, body: `{"role":"analyst"}` },
	{ id: "changeRole", status: 412, path: "/operator/people/person-1/role", headers: OPERATOR, body: `{"role":"owner","was":"analyst"}` },
	{ id: "endSessions", status: 200, path: "/operator/people/person-1/sign-out?dry_run=1", headers: OPERATOR, body: "{}" },
	{
		id: "removePasskey",
		status: 200,
		path: "/operator/people/person-1/remove-passkey?dry_run=1",
		headers: OPERATOR,
		body: `{"passkey":"k-1"}`,
	},
	{ id: "disablePerson", status: 200, path: "/operator/people/person-1/disable?dry_run=1", headers: OPERATOR, body: "" },
	{ id: "enablePerson", status: 200, path: "/operator/people/person-2/enable?dry_run=1", headers: OPERATOR, body: "" },
	...(
		[
			["changeRole", "role", { role: "owner" }],
			["endSessions", "sign-out", {}],
			["removePasskey", "remove-passkey", { passkey: "none" }],
			["disablePerson", "disable", null],
			["enablePerson", "enable", null],
		] as const
	).flatMap(([id, verb, body]): Call[] => {
		const path = `/operator/people/nobody/${verb}`;
		const asked = body === null ? "" : JSON.stringify(body);
		return [
			{ id, status: 401, path, body: asked },
			{ id, status: 404, path, headers: OPERATOR, body: asked },
			{ id, status: 413, path, headers: OPERATOR, body: " ".repeat(100_000) },
			{ id, status: 422, path: `/operator/people/person-1/${verb}?dry_run=2`, headers: OPERATOR, body: asked },
		];
	}),
	{ id: "issueKeys", status: 200, headers: OPERATOR, body: `{"kind":"publisher_key","owner":"kitchen-notes"}` },
	{ id: "issueKeys", status: 401, body: "{}" },
	{ id: "issueKeys", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "issueKeys", status: 422, headers: OPERATOR, body: `{"kind":"publisher_key","owner":"nobody"}` },
	{ id: "rotateKeys", status: 200, headers: OPERATOR, body: `{"kind":"platform_key","owner":"harvestlink","overlap_hours":0}` },
	{ id: "rotateKeys", status: 200, headers: OPERATOR, body: `{"kind":"publisher_id","owner":"kitchen-notes","value":"2002"}` },
	{ id: "rotateKeys", status: 401, body: "{}" },
	{ id: "rotateKeys", status: 422, headers: OPERATOR, body: `{"kind":"publisher_id","owner":"kitchen-notes","overlap_hours":-1}` },
	{ id: "listKeys", status: 200, headers: OPERATOR, body: "{}", holds: ["keys"] },
	{ id: "listKeys", status: 401, body: "{}" },
	{ id: "listKeys", status: 422, headers: OPERATOR, body: `{"kind":"others"}` },
	{ id: "revokeKeys", status: 200, headers: OPERATOR, body: `{"kind":"access_key","owner":"kitchen-notes"}` },
	{ id: "revokeKeys", status: 200, headers: OPERATOR, body: `{"kind":"publisher_id","owner":"kitchen-notes"}` },
	{ id: "revokeKeys", status: 401, body: "{}" },
	{ id: "revokeKeys", status: 422, headers: OPERATOR, body: `{"kind":"access_key","owner":"kitchen-notes"}` },
	{
		id: "issueKeys",
		status: 200,
		headers: OPERATOR,
		body: `{"kind":"operator_key","owner":"ada","role":"viewer","expires":"2100-01-01T00:00:00Z"}`,
	},
	{ id: "readAudit", status: 200, headers: OPERATOR, holds: ["data"] },
	{ id: "readAudit", status: 401 },
	{ id: "readAudit", status: 422, path: "/operator/audit?cursor=x", headers: OPERATOR },
	{ id: "moveDatabase", status: 401, body: "{}" },
	{ id: "moveDatabase", status: 412, headers: OPERATOR, body: "{}" },
	{ id: "moveDatabase", status: 413, headers: OPERATOR, body: " ".repeat(100_000) },
	{ id: "moveDatabase", status: 422, headers: OPERATOR, body: `{"cancel":"yes"}` },
	{ id: "health", status: 200 },
	{ id: "ready", status: 200 },
];

let descriptions: readonly Description[];

type Found = { method: string; path: string; operation: Described; components: Description["components"] };

function all(): Found[] {
	return descriptions.flatMap(({ paths, components }) =>
		Object.entries(paths).flatMap(([path, methods]) =>
			Object.entries(methods).map(([method, operation]) => ({ method, path, operation, components })),
		),
	);
}

function find(id: string): Found {
	const found = all().find(({ operation }) => operation.operationId === id);
	if (found === undefined) throw new Error(`no description has ${id}`);
	return found;
}

/** What the references of a description's schemas point to: looked up once, as that takes longer than most answers. */
const lookups = new Map<Description["components"], ReturnType<typeof dereference>>();

/** What is wrong with a body; the references of its schema point into the description. */
function faultsOf(body: unknown, schema: Schema, components: Description["components"]): string[] {
	const lookup = lookups.get(components) ?? dereference({ components });
	lookups.set(components, lookup);
	dereference(schema, lookup, undefined, `/answers/${Object.keys(lookup).length}`);
	const { errors } = validate(body, schema, "2020-12", lookup, false);
	return errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

/** Headers that any answer may have. */
const OF_ALL = ["cache-control", "content-length", "content-type", "vary", "x-content-type-options", "x-request-id"];

/** A header that is described so is not there each time. */
const AT_TIMES = /^Of CSV only|by option|[Aa]bsent/;

/** The headers of an answer that are not described, and those that are and should be there. */
function headerFaultsOf(headers: Headers, described: Answer["headers"] = {}): string[] {
	const known = Object.keys(described);
	const unknown = [...headers.keys()].filter((name) => !OF_ALL.includes(name) && !known.includes(name));
	const missing = known.filter((name) => !headers.has(name) && !AT_TIMES.test(described[name]?.description ?? ""));
	return [...unknown.map((name) => `${name} is not described`), ...missing.map((name) => `${name} is missing`)];
}

/** The names of all fields in a body, in its own form; of a list those of its first item. */
function fieldsOf(body: unknown): unknown {
	if (Array.isArray(body)) return body.slice(0, 1).map(fieldsOf);
	if (typeof body !== "object" || body === null) return "value";
	return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, fieldsOf(value)]));
}

function send({ id, method, path, headers = {}, body, type = "application/json" }: Call): Promise<Response> {
	const described = find(id);
	return exports.default.fetch(`http://api.example${typeof path === "function" ? path() : (path ?? described.path)}`, {
		method: method ?? described.method.toUpperCase(),
		redirect: "manual",
		headers: body === undefined ? headers : { "content-type": type, ...headers },
		...(body === undefined ? {} : { body: typeof body === "function" ? body() : body }),
	});
}

/** A bid, its click and the sale that came of it, up to the conversion that is settled. */
async function sell(): Promise<void> {
	const path = "/serving-engine?pubi=2001&bd=kettles.example&cc=US&clickid=my-click-1&subid=sidebar";
	const bid = await (await send({ id: "bidServingEngine", status: 200, path })).json<{ redirect_url: string }>();
	const { pathname, search } = new URL(bid.redirect_url);
	clickUrl = pathname + search;
	const click = await send({ id: "followClick", status: 302, path: clickUrl });
	const hash = new URL(click.headers.get("location") ?? "").searchParams.get("sub");
	const stored = (sql: string) =>
		vi.waitFor(async () => expect(await env.DB.prepare(sql).bind(hash).first()).not.toBeNull(), { timeout: 20_000, interval: 50 });
	await stored("SELECT 1 FROM clicks WHERE click_hash = ?");
	const sale = `/api/postback/platform-key-northwind?txnid=sale-1&cid=${hash}&edate=${dayFromNow(0)}&payout=10&sales=99.5&s2=a`;
	expect(await (await send({ id: "receivePostback", status: 200, path: sale })).json()).toEqual({
		message: "Postback received successfully",
	});
	await stored("SELECT 1 FROM conversions WHERE cid = ? AND stage = 'settled'");
	// One whose click is not known, and one that is refused.
	const lost = `/api/postback/platform-key-northwind?txnid=lost-1&cid=nowhere&edate=${dayFromNow(0)}&payout=8`;
	expect((await send({ id: "receivePostback", status: 200, path: lost })).status).toBe(200);
	const refused = `/api/postback/platform-key-northwind?order_id=bad-1&cid=nowhere&edate=${dayFromNow(0)}&payout=8`;
	expect((await send({ id: "receivePostback", status: 200, path: refused })).status).toBe(200);
	const both = "SELECT 1 FROM conversions v, postback_intake i WHERE v.txnid = 'lost-1' AND i.outcome = 'rejected'";
	await vi.waitFor(async () => expect(await env.DB.prepare(both).first()).not.toBeNull(), { timeout: 20_000, interval: 50 });
}

async function setCallbackUrl(url: string): Promise<void> {
	await env.DB.prepare("UPDATE publishers SET callback_url = ? WHERE id = 'kitchen-notes'").bind(url).run();
}

describe("worker: answers against the API description", () => {
	beforeAll(async () => {
		descriptions = await Promise.all(
			["/openapi.json", "/openapi-operator.json"].map(async (path) =>
				(await exports.default.fetch(`http://api.example${path}`)).json<Description>(),
			),
		);
		const imported = await send({ id: "importNetwork", status: 200, headers: OPERATOR, body: networkText });
		expect(imported.status).toBe(200);
		await imported.body?.cancel();
		for (const usd of ["1.0800", "1.0900"]) {
			const body = JSON.stringify({ exchange_rates: [{ currency: "EUR", date: "2026-10-31", usd }] });
			importId = (await (await send({ id: "importNetwork", status: 200, headers: OPERATOR, body })).json<{ id: string }>()).id;
		}
		await sell();
		await env.DB.batch([
			env.DB.prepare(
				`INSERT INTO callbacks (id, platform, txnid, seq, publisher_id, status, cid, payout_micros, event_at, state, attempt_count, created_at, next_attempt_at)
				VALUES ('c', 'northwind', 't-0', 1, 'kitchen-notes', 'approved', 'k', 1500000, 0, 'due', 1, 0, 8640000000000)`,
			),
			...["granted", "open", "open", "open", "open", "open"].map((state, n) =>
				env.DB.prepare(
					`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at)
					VALUES (?, 'kitchen-notes', 'missing', ?, ?, ?, 1, 0, 0)`,
				).bind(`claim-${n}`, `about-${n}`, state, `[{"at":"2026-11-18T15:00:00.000Z","by":"publisher","state":"open","text":"t"}]`),
			),
			...["", "bot"].map((reason) =>
				env.DB.prepare(
					`INSERT INTO daily_network (date, campaign_id, publisher_id, brand_id, platform, country, kind, reason, click_count, approved_count, gross_micros)
					SELECT '2026-01-01', 9001, 'kitchen-notes', MIN(id), 'harvestlink', 'US', 'link', ?1, 2, 1, 4200000 FROM brands`,
				).bind(reason),
			),
			...["bid", "below_floor"].map((outcome) =>
				env.DB.prepare(
					"INSERT INTO bid_hours (hour, publisher_id, endpoint, outcome, requests) VALUES (?, 'kitchen-notes', 'openrtb', ?, 7)",
				).bind(Math.floor(Date.now() / 3_600_000), outcome),
			),
			...["owner", "analyst"].map((role, n) =>
				env.DB.prepare(
					"INSERT INTO console_people (id, publisher_id, name, role, created_at, disabled_at) VALUES (?, 'kitchen-notes', ?, ?, 0, ?)",
				).bind(`person-${n + 1}`, `Person ${n + 1}`, role, n === 0 ? null : 1),
			),
			...[1, 2].map((n) =>
				env.DB.prepare(
					"INSERT INTO console_passkeys (credential_id, person_id, public_key, counter, transports, name, created_at) VALUES (?, ?, 'k', 0, '[]', 'Laptop', 0)",
				).bind(`k-${n}`, `person-${n}`),
			),
			env.DB.prepare("INSERT INTO cron_jobs (name, ended_at) VALUES ('caps', 0)"),
			env.DB.prepare(
				"INSERT INTO console_sessions (hash, person_id, method, created_at, last_seen_at) VALUES ('5', 'person-1', 'link', ?1, ?1)",
			).bind(Date.now()),
			env.DB.prepare(
				"INSERT INTO callback_attempts (id, callback_id, started_at, latency_ms, answer) VALUES ('a', 'c', 0, 5, 'no answer')",
			),
			env.DB.prepare(
				"INSERT INTO callback_attempts (id, callback_id, started_at, latency_ms, http_status, answer) SELECT 'b', id, 0, 5, 500, 'busy' FROM callbacks WHERE txnid = 'sale-1'",
			),
			env.DB.prepare(
				"INSERT INTO dead_letters (id, queue, body, received_at) VALUES ('d', 'callbacks', '{\"format\":1,\"id\":\"none\"}', 0)",
			),
		]);
		const day = Math.floor(Date.now() / 86_400_000);
		await keepLearned(openDatabase(env.DB), Date.now(), [
			{
				campaignId: 9001,
				operatorMicros: 360_000,
				factor: 0.73,
				inForce: 0.75,
				steering: { caution: 0.88, overpaid: 1, creep: 1, bidCreep: 1, observed: 14, balance: { paidMicros: 0, projectedMicros: 0 } },
				lastBreak: { day: day - 1, forgottenBefore: day - 11, z: -3.1, expected: 14, observed: 3 },
			},
		]);
		await setCallbackUrl("https://callbacks.invalid/s2s?token=secret-1");
		const amount = { kind: "amount", publisher: "kitchen-notes", date: dayFromNow(-1), amount: "1", text: "a test" };
		await (await send({ id: "adjust", status: 200, headers: OPERATOR, body: JSON.stringify(amount) })).body?.cancel();
		const nightly = { db: openDatabase(env.DB), now: () => Date.now() };
		await sweepDays(nightly);
		await sweepLedger(nightly);
	});

	test.each(CALLS.map((call) => [call.id, call.status, call] as const))("%s answers %i as described", async (id, status, call) => {
		if (call.callbackUrl !== undefined) await setCallbackUrl(call.callbackUrl);
		const response = await send(call);
		const text = await response.text();
		expect([response.status, text.slice(0, 300)]).toEqual([status, expect.anything()]);
		const { operation, components } = find(id);
		const described = operation.responses[status];
		expect(described, `${id} describes ${status}`).toBeDefined();
		expect(headerFaultsOf(response.headers, described?.headers), `headers of ${id} ${status}`).toEqual([]);
		const type = response.headers.get("content-type")?.split(";")[0] ?? "";
		if (described?.content === undefined) {
			expect(text).toBe("");
			return;
		}
		if (type === "text/csv") {
			// Told in words: generated clients know one media type.
			expect(described.description).toContain("`text/csv`");
			return;
		}
		const content = described.content[type];
		expect(content, `${id} ${status} describes ${type}`).toBeDefined();
		if (content === undefined || type !== "application/json") return;
		const body = JSON.parse(text);
		for (const list of call.holds ?? []) expect(body[list], list).not.toEqual([]);
		expect(faultsOf(body, content.schema, components)).toEqual([]);
		if (status === 200 && CALLS.find((first) => first.id === id && first.status === 200) === call) {
			expect(fieldsOf(content.example)).toEqual(fieldsOf(body));
		}
	});

	test("every operation that is described is called", () => {
		const called = new Set(CALLS.map(({ id }) => id));
		expect(all().filter(({ operation }) => !called.has(operation.operationId))).toEqual([]);
	});

	test("an answer with a field that is not described would fail", () => {
		const { operation, components } = find("health");
		const schema = operation.responses["200"]?.content?.["application/json"]?.schema;
		if (schema === undefined) throw new Error("/health has no schema");
		expect(faultsOf({ status: "ok", uptime: 1 }, schema, components)).not.toEqual([]);
	});
});
