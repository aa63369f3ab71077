/** Imports network files through the real endpoint, and asks both real-time endpoints. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { openDatabase } from "../../src/db/client.ts";
import type { Actor } from "../../src/http/actor.ts";
import { faultsSchema } from "../../src/lib/shapes.ts";
import { type ImportReport, importReportSchema } from "../../src/operator/network/import-answer.ts";
import { type ImportOptions, importNetwork } from "../../src/operator/network/import-network.ts";
import { campaignSchema, SECTIONS, type SectionName } from "../../src/operator/network/network-file.ts";
import "./worker-env.ts";

const OPERATOR: Actor = { name: "operator", role: "admin", requestId: "test" };

/** An import as it is without any option. */
export const PLAIN_IMPORT: ImportOptions = { isDryRun: false, isConfirmed: false, isComplete: false, ifMatch: null, actor: OPERATOR };

export const OPERATOR_HEADERS = { OperatorKey: env.OPERATOR_KEY };

export function postNetwork(body: BodyInit, headers: Record<string, string> = OPERATOR_HEADERS, query = ""): Promise<Response> {
	return exports.default.fetch(`https://base.example/operator/network${query}`, { method: "POST", headers, body });
}

/** Imports a file that must be taken over. @param query such as `?yes=1` */
export async function importFile(file: object, query = ""): Promise<ImportReport> {
	const response = await postNetwork(JSON.stringify(file), OPERATOR_HEADERS, query);
	if (response.status !== 200) throw new Error(`import answered ${response.status}: ${await response.text()}`);
	return v.parse(importReportSchema, await response.json());
}

/** Takes over a file whose book no bid, and no redirect, is to read, nor its brands a list within a moment: it is not published. */
export function importUnpublished(file: object): Promise<ImportReport> {
	const deps = {
		db: openDatabase(env.DB),
		products: openDatabase(env.PRODUCTS),
		publish: async () => ({ version: 0, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null }),
		now: () => Date.now(),
		allowInsecureCallbacks: false,
	};
	return importNetwork(deps, new Blob([JSON.stringify(file)]).stream(), { ...PLAIN_IMPORT, isConfirmed: true });
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

/** One like {@link ACME}, whose names and keys are made of its id. */
export const publisherCalled = (id: string) => ({
	...ACME,
	id,
	name: id,
	publisher_id: id,
	publisher_identity: id,
	access_key: `access-key-${id}`,
	publisher_key: `publisher-key-${id}`,
});

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

/** Imports a file whose entries are to be just as they stand there: what they do not name is cleared, and campaigns not named go. */
export function importExactly(
	file: { [Section in SectionName]?: object[] },
	takeOver: (file: object) => Promise<ImportReport> = (whole) => importFile(whole, "?yes=1"),
): Promise<ImportReport> {
	const sections = Object.entries(file) as [SectionName, Entry[]][];
	return takeOver(
		Object.fromEntries(
			sections.map(([section, entries]) => [
				section,
				entries.map((entry) => {
					const whole = withNulls(SECTIONS[section].entries, entry);
					if (section !== "brands") return whole;
					const campaigns = (entry.campaigns as Entry[] | undefined) ?? [];
					return {
						...whole,
						campaigns: campaigns.map((campaign) => withNulls(campaignSchema.entries, campaign)),
						campaigns_complete: true,
					};
				}),
			]),
		),
	);
}

type Entry = Record<string, unknown>;

function withNulls(fields: Record<string, object>, entry: Entry): Entry {
	const clearable = Object.entries(fields).filter(([, schema]) => "default" in schema);
	return { ...Object.fromEntries(clearable.map(([name]) => [name, null])), ...entry };
}
