/** Learned prices in the console: a campaign's over time, what is advised, and accepting it once it was looked at. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/db/client.ts";
import { get, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { keepLearned } from "../../support/learned-rows.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, brandEntry, importFile, NORTHWIND, priceFor } from "../../support/network-import.ts";

const NOW = Date.parse("2026-11-18T15:00:00Z");
const PATH = "/console/operator/learning";
const visitors: Record<string, Visitor> = {};

async function textOf(path: string, who = "viewer"): Promise<string> {
	const { status, text } = await shown(get(path, visitors[who]));
	expect([path, status]).toEqual([path, 200]);
	return text;
}

beforeAll(async () => {
	setNow(new Date(NOW).toISOString());
	await importFile({
		epc_learning: { mode: "advise" },
		platforms: [NORTHWIND],
		publishers: [ACME],
		brands: [
			brandEntry("shoes.example", 1),
			brandEntry("hats.example", 2),
			brandEntry("bags.example", 3, {}, { epc_learning: { mode: "automatic" } }),
		],
	});
	const day = Math.floor(NOW / 86_400_000);
	await keepLearned(openDatabase(env.DB), NOW, [
		{ campaignId: 1, operatorMicros: 400_000, factor: 0.5 },
		{ campaignId: 2, operatorMicros: 400_000, factor: 2 },
		{
			campaignId: 3,
			operatorMicros: 400_000,
			factor: 1.5,
			inForce: 1.25,
			lastBreak: { day: day - 1, forgottenBefore: day - 11, z: -3.4, expected: 20, observed: 6 },
		},
	]);
	for (const role of ["viewer", "manager"]) visitors[role] = await signIn({ staff: `the ${role}`, role });
});

describe("worker: pages of learned prices", () => {
	it("draw a campaign's price over time, with its evidence as a table", async () => {
		const text = await textOf("/console/operator/campaigns/3/prices");
		expect(text).toContain("<svg");
		expect(text).toContain('value="0.5000"');
		expect(text).toContain("× 1.5");
		expect(text).toContain("30 of 20");
		expect(text).toContain("Its worth changed at once by 2026-11-17");
		expect(await textOf("/console/operator/campaigns/3")).toContain("/console/operator/campaigns/3/prices");
		expect((await get("/console/operator/campaigns/77/prices", visitors.viewer)).status).toBe(404);
	});

	it("explain a price as a chain", async () => {
		const { status, text } = await shown(
			post("/console/operator/explain", visitors.viewer, { who: "1001", request: "bd=bags.example&cc=US" }),
		);
		expect(status).toBe(200);
		expect(text).toContain("How its prices are made");
		expect(text).toContain("× 1.25");
	});

	it("advise; who only reads is asked for nothing, and may not accept", async () => {
		const text = await textOf(PATH);
		expect(text).toContain("-60.0000");
		expect(text).not.toContain("Accept");
		expect((await post(`${PATH}/accept`, visitors.viewer, { campaigns: "1" })).status).toBe(403);
		expect(await textOf(PATH, "manager")).toContain("Accept all");
		const ofOne = await textOf(`${PATH}?campaign=1`, "manager");
		expect([ofOne.includes("Accept…"), ofOne.includes("Accept all")]).toEqual([true, false]);
	});

	it("tell of an hour that failed, and since when prices and guards stay", async () => {
		const rows = { publishing: { at: NOW - 3_600_000 }, "publishing fault": { at: NOW, message: "KV was away" } };
		const insert = env.DB.prepare("INSERT INTO learning_work (name, value) VALUES (?, ?)");
		await env.DB.batch(Object.entries(rows).map(([name, value]) => insert.bind(name, JSON.stringify(value))));
		const text = await textOf(PATH);
		expect(text).toContain("The last hour failed");
		expect(text).toContain("KV was away");
		expect(text).toContain('datetime="2026-11-18T14:00:00.000Z"');
		await env.DB.prepare("DELETE FROM learning_work WHERE name LIKE 'publishing%'").run();
		expect(await textOf(PATH)).not.toContain("The last hour failed");
	});

	it("accept what was looked at: one campaign, and none where the network has changed since", async () => {
		const version = (await textOf(PATH, "manager")).match(/name="version" value="(\d+)"/)?.[1] ?? "";
		const form = { campaigns: "1", version };
		const looked = await shown(post(`${PATH}/accept`, visitors.manager, form));
		expect(looked.text).toContain("0.2000");
		expect(await priceFor("shoes.example")).toBe(0.2);
		const done = await post(`${PATH}/accept`, visitors.manager, { ...form, step: "do" });
		expect(done.status).toBe(303);
		expect(done.headers.get("location")).toMatch(/\/console\/operator\/learning\?accepted=./);
		expect(await priceFor("shoes.example")).toBe(0.1);
		const [, accepted = ""] = (done.headers.get("location") ?? "").split("accepted=");
		expect(await textOf(`${PATH}?accepted=${accepted}`, "manager")).toContain(`href="/console/operator/imports/${accepted}"`);
		expect(await textOf(`/console/operator/imports/${accepted}`)).toContain("What it changed");
		expect(await textOf(`${PATH}?accepted=${encodeURIComponent("1. Ring +1 555 0100")}`)).not.toContain("555");
		const late = await shown(post(`${PATH}/accept`, visitors.manager, { campaigns: "2", version, step: "do" }));
		expect([late.status, late.text]).toEqual([412, expect.stringContaining("The network has changed since")]);
		expect(await priceFor("hats.example")).toBe(0.2);
	});

	it("say why nothing was accepted", async () => {
		for (const campaigns of ["", "3", "x", "1,2,77"]) {
			const { status, text } = await shown(post(`${PATH}/accept`, visitors.manager, { campaigns }));
			expect([campaigns, status]).toEqual([campaigns, 422]);
			expect(text).toContain("Nothing was accepted");
		}
	});

	it("draw prices up to now, where the operator's number is bid again, too", async () => {
		const PRICES = "/console/operator/campaigns/3/prices";
		const drawn = (text: string) => [...text.matchAll(/<title>([^<]*In force[^<]*)</g)].map(([, title]) => title);
		setNow(new Date(NOW + 3_600_000).toISOString());
		const point = (at: string, epc: string) => `${at}\nIn force: ${epc} USD\nOperator&#39;s number: 0.4000 USD`;
		expect(drawn(await textOf(PRICES))).toEqual([point("2026-11-18 15:00", "0.5000"), point("2026-11-18 16:00", "0.5000")]);
		await importFile({ brands: [brandEntry("bags.example", 3, {}, { epc_learning: { mode: "advise" } })] });
		expect(drawn(await textOf(PRICES))).toEqual([point("2026-11-18 15:00", "0.5000"), point("2026-11-18 16:00", "0.4000")]);
		setNow(new Date(NOW).toISOString());
	});
});
