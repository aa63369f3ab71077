/** Whole network files in the console: looked at, taken over, listed, undone, and never over what others have changed. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { get, OWN, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../../support/network-import.ts";

const LIST = "/console/operator/imports";
const NEW = `${LIST}/new`;
const who: Record<string, Visitor> = {};

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	const brands = [brandEntry("shoes.example", 11), brandEntry("hats.example", 12), brandEntry("bags.example", 13)];
	await importFile({ platforms: [{ ...NORTHWIND, postback_secret: "a-secret-of-sixteen" }], publishers: [ACME], brands });
	for (const role of ["viewer", "manager", "admin"]) who[role] = await signIn({ staff: `the ${role}`, role });
});

/** A form of parts, as browsers send one with a file in it. */
function sendParts(fields: Record<string, string | File>, visitor = who.manager) {
	const body = new FormData();
	for (const [name, value] of Object.entries(fields)) body.append(name, value);
	return shown(
		exports.default.fetch(`http://localhost:8787${NEW}`, {
			method: "POST",
			headers: { ...OWN, cookie: visitor?.cookie ?? "" },
			body,
			redirect: "manual",
		}),
	);
}

const versionOf = (text: string) => /name="version" value="(\d+)"/.exec(text)?.[1] ?? "";
const networkOf = (brand: object) => JSON.stringify({ brands: [{ domain: "shoes.example", ...brand }] });
const categoryNow = () => env.DB.prepare("SELECT category FROM brands WHERE domain = 'shoes.example'").first<string>("category");
const textOf = async (path: string, visitor = who.viewer) => (await shown(get(path, visitor))).text;
const lastId = async () => /imports\/([\da-f-]{36})"/.exec(await textOf(LIST))?.[1] ?? "";

describe("worker: imports in the console", () => {
	it("of a file are looked at, taken over as of what was seen, listed with their difference, and undone", async () => {
		const network = networkOf({ category: "<b>" });
		const preview = await sendParts({ network: "", file: new File([network], "network.json") });
		expect([preview.status, preview.text]).toEqual([200, expect.stringContaining("&lt;b&gt;")]);
		expect(preview.text).not.toContain("<b>");
		expect(await categoryNow()).not.toBe("<b>");
		const doing = { network, step: "do", version: versionOf(preview.text) };
		expect((await sendParts({ ...doing, version: "" })).status).toBe(422);
		expect((await sendParts(doing)).status).toBe(303);
		expect(await categoryNow()).toBe("<b>");
		const late = await sendParts({ ...doing, network: networkOf({ category: "late" }) });
		expect([late.status, late.text]).toEqual([412, expect.stringContaining("Someone has changed the network meanwhile")]);
		expect(await categoryNow()).toBe("<b>");

		const path = `${LIST}/${await lastId()}`;
		expect(await textOf(path)).toMatch(/brand shoes\.example: changed[\s\S]*Category[\s\S]*&lt;b&gt;/);
		expect(await textOf(path)).not.toContain("/undo");
		const undo = await shown(post(`${path}/undo`, who.manager));
		expect([undo.status, undo.text]).toEqual([200, expect.stringContaining("What changes")]);
		await importFile({ brands: [{ domain: "shoes.example", category: "later" }] });
		const again = await shown(post(`${path}/undo`, who.manager, { step: "do", version: versionOf(undo.text) }));
		expect([again.status, again.text]).toEqual([412, expect.stringContaining("was changed since, and that is overwritten")]);
		const version = versionOf(again.text);
		expect(again.text).toContain('name="yes"');
		const asked = await shown(post(`${path}/undo`, who.manager, { step: "do", version }));
		expect([asked.status, asked.text]).toEqual([422, expect.stringContaining('name="yes"')]);
		expect(await categoryNow()).toBe("later");
		const done = await post(`${path}/undo`, who.manager, { step: "do", version, yes: "true" });
		expect([done.status, done.headers.get("location")]).toEqual([303, expect.stringContaining("?done=1")]);
		expect(await categoryNow()).toBeNull();
		expect(await textOf(path)).toContain("Undone by");
		expect(await textOf(`${LIST}?limit=1`)).toContain("Next page");
	});

	it("of many prices say how many more there are than are listed", async () => {
		const keyword_epc = Object.fromEntries(Array.from({ length: 103 }, (_, at) => [`many ${at}`, "900"]));
		const [{ id } = { id: 0 }] = (
			await env.DB.prepare(
				"SELECT c.campaign_id AS id FROM campaigns c JOIN brands b ON b.id = c.brand_id WHERE b.domain = 'shoes.example' AND c.epc_micros > 0 LIMIT 1",
			).all<{ id: number }>()
		).results;
		const preview = await sendParts({ network: networkOf({ campaigns: [{ campaign_id: id, keyword_epc, unknown_field: 1 }] }), file: "" });
		expect(preview.text).toMatch(/And more prices that move so: [34]\./);
		expect(preview.text).not.toContain("more doubtful things");
	});

	it("of a file that is too large to be handed back are taken over where the same file is chosen again, and no other", async () => {
		const large = new File([networkOf({ category: "large" }), " ".repeat(3 * 1024 * 1024)], "network.json");
		const preview = await sendParts({ network: "", file: large });
		expect([preview.status, preview.text.length < 64 * 1024]).toEqual([200, true]);
		const [, sha256 = ""] = /name="sha256" value="([0-9a-f]{64})"/.exec(preview.text) ?? [];
		const doing = { network: "", sha256, step: "do", version: versionOf(preview.text) };
		for (const file of [
			new File([networkOf({ category: "another" })], "a.json"),
			new File([large, " "], "network.json"),
			new File([], ""),
		]) {
			const refused = await sendParts({ ...doing, file });
			expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("is not the one that was looked at")]);
		}
		expect(await categoryNow()).toBeNull();
		expect((await sendParts({ ...doing, file: large })).status).toBe(303);
		expect(await categoryNow()).toBe("large");
		const tooLarge = await sendParts({ network: "", file: new File([" ".repeat(16 * 1024 * 1024)], "network.json") });
		expect([tooLarge.status, tooLarge.text]).toEqual([413, expect.stringContaining("at most 16 MiB")]);
		await importFile({ brands: [{ domain: "shoes.example", category: null }] });
	});

	it("say what is wrong with a file, ask before most campaigns stop, and show no secret", async () => {
		for (const [network, told] of [
			["", "Nothing was changed"],
			["{", "Nothing was changed"],
			['{"brands":[{"domain":"<i>"}]}', "brands[0]"],
		] as const) {
			const refused = await sendParts({ network });
			expect([network, refused.status, refused.text]).toEqual([network, 422, expect.stringContaining(told)]);
			expect(refused.text).not.toContain("<i>");
		}
		expect((await post(NEW, who.manager, {}, { ...OWN, "content-type": "text/plain" })).status).toBe(422);
		const stops = ["shoes", "hats", "bags"].map((name) => ({ domain: `${name}.example`, active: false }));
		const network = JSON.stringify({
			platforms: [{ id: "northwind", postback_secret: "another-secret-of-it" }],
			brands: stops,
		});
		// Another secret takes an admin.
		expect((await sendParts({ network })).status).toBe(422);
		const preview = await sendParts({ network }, who.admin);
		expect(preview.text).toContain('name="yes"');
		const doing = { network, step: "do", version: versionOf(preview.text) };
		expect((await sendParts(doing, who.admin)).status).toBe(422);
		expect((await sendParts({ ...doing, yes: "true" }, who.admin)).status).toBe(303);
		const shownNow = await textOf(`${LIST}/${await lastId()}`);
		expect(shownNow).toContain("(another)");
		expect(shownNow).not.toMatch(/secret-of/);
	});

	it("show keys of what is new once, and take whoever may, just after they proved who they are", async () => {
		const { access_key: _, publisher_key: __, ...entry } = { ...ACME, id: "fresh", publisher_id: "77", publisher_identity: "fresh" };
		const network = JSON.stringify({ publishers: [entry] });
		const preview = await sendParts({ network });
		const issued = await sendParts({ network, step: "do", version: versionOf(preview.text) });
		expect([issued.status, issued.text]).toEqual([200, expect.stringContaining("access key of publisher fresh")]);
		expect((await sendParts({ network }, who.viewer)).status).toBe(403);
		expect((await get(`${LIST}/nothing`, who.viewer)).status).toBe(404);
		setNow("2026-11-18T15:11:00Z");
		expect((await get(NEW, who.manager)).headers.get("location")).toContain("/console/confirm");
		expect((await sendParts({ network })).status).toBe(403);
	});
});
