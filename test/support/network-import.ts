/** Imports network files through the real endpoint, and asks both real-time endpoints. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { faultsSchema } from "../../src/lib/shapes.ts";
import { type ImportReport, importReportSchema } from "../../src/operator/network/import-answer.ts";
import "./worker-env.ts";

export const OPERATOR_HEADERS = { OperatorKey: env.OPERATOR_KEY };

export function postNetwork(body: BodyInit, headers: Record<string, string> = OPERATOR_HEADERS): Promise<Response> {
	return exports.default.fetch("https://base.example/operator/network", { method: "POST", headers, body });
}

/** Imports a file that must be taken over. */
export async function importFile(file: object): Promise<ImportReport> {
	const response = await postNetwork(JSON.stringify(file));
	if (response.status !== 200) throw new Error(`import answered ${response.status}: ${await response.text()}`);
	return v.parse(importReportSchema, await response.json());
}

/** Imports a file that must be refused. */
export async function faultsOf(file: object | string): Promise<v.InferOutput<typeof faultsSchema>> {
	const response = await postNetwork(typeof file === "string" ? file : JSON.stringify(file));
	if (response.status !== 422) throw new Error(`import answered ${response.status}: ${await response.text()}`);
	return v.parse(faultsSchema, await response.json());
}

export const NORTHWIND = { id: "northwind", platform_id: 7, name: "Northwind", access_key: "platform-key-northwind" };
export const ACME = {
	id: "acme",
	name: "Acme",
	publisher_id: "1001",
	publisher_identity: "acme_rtb",
	serving_engine_enabled: true,
	openrtb_enabled: true,
	access_key: "access-key-acme",
	publisher_key: "publisher-key-acme",
	revenue_share: 0.5,
	pricing_model: "CPA",
};

/** A brand with one campaign that bids in the US. */
export function brandEntry(domain: string, campaignId: number, fields: object = {}, campaign: object = {}) {
	return {
		domain,
		name: domain,
		...fields,
		campaigns: [
			{
				campaign_id: campaignId,
				merchant_id: 1,
				platform: "northwind",
				country: "US",
				homepage_url: "https://track.example/c?sub={click_id}",
				epc: "0.4000",
				daily_click_cap: 1000,
				...campaign,
			},
		],
	};
}

/** The price of an OpenRTB bid for a domain, or null where there is none. */
export async function priceFor(domain: string, identity = "acme_rtb"): Promise<number | null> {
	const response = await exports.default.fetch(`https://rtb.example/openrtb/${identity}`, {
		method: "POST",
		body: JSON.stringify({ id: "a", imp: [{ id: "1" }], site: { domain } }),
	});
	if (response.status === 204) return null;
	const answer = await response.json<{ seatbid: { bid: { price: number }[] }[] }>();
	return answer.seatbid[0]?.bid[0]?.price ?? null;
}
