/** The network in the console: looked at, changed as a form over the network file, and never over what others have changed. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { get, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, brandEntry, importFile, NORTHWIND, priceFor } from "../../support/network-import.ts";

const START = Date.parse("2026-11-18T15:00:00Z");
const visitors: Record<string, Visitor> = {};
let minutes = 0;

/** The book is read anew after a while. */
function later(by = 2): void {
	minutes += by;
	setNow(new Date(START + minutes * 60_000).toISOString());
}

beforeAll(async () => {
	setNow(new Date(START).toISOString());
	await importFile({
		platforms: [{ ...NORTHWIND, postback_secret: "a-secret-of-sixteen" }],
		publishers: [
			{ ...ACME, callback_url: "https://acme.example/cb" },
			{
				...ACME,
				id: "b",
				name: "B <b>",
				publisher_id: "2",
				publisher_identity: "b",
				access_key: "access-key-b",
				publisher_key: "publisher-key-b",
				revenue_share: 0.8525,
			},
		],
		brands: [brandEntry("shoes.example", 11), brandEntry("hats.example", 12, { category: "hats" }), brandEntry("bags.example", 13)],
	});
	for (const role of ["viewer", "manager", "admin"]) visitors[role] = await signIn({ staff: `the ${role}`, role });
});

async function textOf(path: string, who = "viewer"): Promise<string> {
	const { status, text } = await shown(get(path, visitors[who]));
	expect([path, status]).toEqual([path, 200]);
	return text;
}

/** What a browser would send of the one form of a page that has fields of this name: its controls as they stand. */
function formOf(text: string, has: string): Record<string, string> {
	const decode = (escaped: string) =>
		escaped.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
	const form = text.match(/<form method="post"[\s\S]*?<\/form>/g)?.find((one) => one.includes(`name="${has}"`)) ?? "";
	expect(form).not.toBe("");
	const fields: Record<string, string> = {};
	for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
		const name = tag.match(/ name="([^"]*)"/)?.[1];
		if (name !== undefined && !tag.includes('type="checkbox"')) fields[name] = decode(tag.match(/ value="([^"]*)"/)?.[1] ?? "");
	}
	for (const [, name = "", value = ""] of form.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>([\s\S]*?)<\/textarea>/g))
		fields[name] = decode(value);
	for (const [, name = "", options = ""] of form.matchAll(/<select [^>]*name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g)) {
		const chosen = options.match(/<option [^>]*selected[^>]*>/)?.[0] ?? options.match(/<option [^>]*>/)?.[0] ?? "";
		fields[name] = decode(chosen.match(/ value="([^"]*)"/)?.[1] ?? "");
	}
	return fields;
}

const send = (path: string, form: Record<string, string>, who = "manager") => shown(post(path, visitors[who], form));

/** Looks at a change, then makes it. */
async function change(path: string, form: Record<string, string>, who = "manager"): Promise<string> {
	const preview = await send(path, form, who);
	expect([preview.status, preview.text.includes("What changes")]).toEqual([200, true]);
	const done = await post(path, visitors[who], formOf(preview.text, "step"));
	expect([done.status, await done.text()]).toEqual([303, ""]);
	return preview.text;
}

async function stored(sql: string): Promise<unknown> {
	return env.DB.prepare(sql).first("value");
}

describe("worker: lists of the network", () => {
	it.each([
		["/console/operator/publishers", ["Acme", "B &lt;b&gt;", "85.25%"]],
		["/console/operator/publishers?text=acme&status=active", ["Acme"]],
		["/console/operator/brands?category=hats", ["/console/operator/brands/hats.example"]],
		["/console/operator/campaigns?brand=shoes.example&country=us", ["/console/operator/campaigns/11", "0.40"]],
		["/console/operator/platforms", ["Northwind"]],
		["/console/operator/platforms?text=nothing", ["No platform is like that"]],
		["/console/operator/brands?limit=1", ["cursor=", "Next page"]],
	])("%s", async (path, parts) => {
		const text = await textOf(path);
		for (const part of parts) expect(text).toContain(part);
	});

	it("walks by cursor, and says what a filter takes", async () => {
		const [next = ""] = (await textOf("/console/operator/brands?limit=2")).match(/\/console\/operator\/brands\?[^"]*cursor=[^"]*/) ?? [];
		const text = await textOf(next.replaceAll("&amp;", "&"));
		expect(text).toContain("shoes.example");
		expect(text).not.toContain("hats.example");
		for (const query of ["active=maybe", "cursor=x", "nothing=1", "limit=0"]) {
			expect((await shown(get(`/console/operator/brands?${query}`, visitors.viewer))).status).toBe(422);
		}
	});

	it("lead to new entries whoever may add them alone", async () => {
		for (const path of ["publishers", "brands", "campaigns", "platforms", "platforms?text=nothing", "brands/hats.example"]) {
			const leads = async (who: string) => [path, who, (await textOf(`/console/operator/${path}`, who)).includes("/console/operator/new/")];
			expect([await leads("viewer"), await leads("manager")]).toEqual([
				[path, "viewer", false],
				[path, "manager", true],
			]);
		}
	});
});

describe("worker: an entry's page", () => {
	it("has its facts, what belongs to it, and no secret; a viewer changes nothing", async () => {
		for (const [path, part] of [
			["/console/operator/publishers/acme", "/console/operator/keys?owner=acme"],
			["/console/operator/platforms/northwind", "/console/operator/postback-problems?platform=northwind"],
			["/console/operator/brands/shoes.example", "/console/operator/campaigns/11"],
			["/console/operator/campaigns/11", "https://track.example/c?sub={click_id}"],
		] as const) {
			const text = await textOf(path);
			expect(text).toContain(part);
			expect(text).not.toMatch(/a-secret-of-sixteen|access-key-acme|publisher-key-acme|platform-key-northwind/);
			expect(text).not.toContain("What changes is shown first");
			expect(await textOf(path, "manager")).not.toMatch(/a-secret-of-sixteen|access-key-acme/);
			expect((await send(path, {}, "viewer")).status).toBe(403);
		}
		expect((await shown(get("/console/operator/campaigns/x", visitors.viewer))).status).toBe(404);
		expect((await shown(get(`/console/operator/brands/${encodeURIComponent("<script>")}`, visitors.viewer))).status).toBe(404);
	});
});

describe("worker: a change", () => {
	const CAMPAIGN = "/console/operator/campaigns/11";

	it("is shown field by field, then made; only what was changed is sent; the next bid knows of it", async () => {
		expect(await priceFor("shoes.example")).toBe(0.2);
		const form = formOf(await textOf(CAMPAIGN, "manager"), "epc");
		const preview = await change(CAMPAIGN, { ...form, epc: "0.9000", keyword_epc: '{"red shoes": "1.00"}', allowed_hours: "10, 11" });
		for (const part of ["0.4000", "0.9000", "red shoes", "more than a factor of two", "10, 11"]) expect(preview).toContain(part);
		expect(JSON.parse(formOf(preview, "step").fields ?? "")).toEqual({
			epc: "0.9000",
			keyword_epc: { "red shoes": "1.00" },
			allowed_hours: [10, 11],
		});
		expect(await textOf(`${CAMPAIGN}?changed=1`)).toContain("The next bid knows of it");
		await change(CAMPAIGN, { ...formOf(await textOf(CAMPAIGN, "manager"), "epc"), allowed_hours: "" });
		later();
		expect(await priceFor("shoes.example")).toBe(0.45);
		expect(await stored("SELECT actor AS value FROM audit WHERE verb = 'changeCampaignEntry' AND subject_id = '11' LIMIT 1")).toBe(
			"the manager",
		);
	});

	it("that changes nothing says so", async () => {
		const { status, text } = await send(CAMPAIGN, formOf(await textOf(CAMPAIGN, "manager"), "epc"));
		expect([status, text.includes("Nothing would change"), text.includes('name="step"')]).toEqual([200, true, false]);
	});

	it("at fault is told beside its fields, with all that was typed, and nothing of it is done", async () => {
		const form = formOf(await textOf(CAMPAIGN, "manager"), "epc");
		const wrong = {
			epc: "lots <b>",
			timezone: "Mars",
			daily_click_cap: "-1",
			keyword_epc: "{",
			allowed_hours: "9, 24",
			platform: "nobody",
			active: "perhaps",
			merchant_id: "77",
		};
		for (const fields of [wrong, { ...wrong, keyword_epc: "[]" }, { platform: "nobody" }]) {
			const { status, text } = await send(CAMPAIGN, { ...form, ...fields });
			expect(status).toBe(422);
			expect(text).toContain("aria-invalid");
			expect(text).not.toContain("<b>");
			for (const part of fields === wrong ? ["must be JSON", 'value="77"', "lots &lt;b&gt;"] : ["must be|is not a platform"])
				expect(text).toMatch(new RegExp(part));
		}
		expect(await stored("SELECT merchant_id AS value FROM campaigns WHERE campaign_id = 11")).toBe(1);
		const { etag = "", was = "" } = form;
		for (const [fields, status] of [
			['{"campaign_id":12}', 422],
			['{"nothing":1}', 422],
			["[]", 422],
			["", 422],
			['{"epc":{"a":[]}}', 422],
			['{"__proto__":{"epc":"9"}}', 422],
		] as const) {
			expect([fields, (await send(CAMPAIGN, { etag, was, fields, step: "do" })).status]).toEqual([fields, status]);
		}
		expect((await send(CAMPAIGN, { etag, was: "{", epc: "0.5", step: "perhaps" })).status).toBe(200);
		expect((await send(CAMPAIGN, { epc: "0.5", step: "do" })).status).toBe(412);
		expect(await stored("SELECT epc_micros AS value FROM campaigns WHERE campaign_id = 11")).toBe(900_000);
	});

	it("of what someone else has changed is told, and overwrites nothing", async () => {
		const path = "/console/operator/campaigns/12";
		const read = formOf(await textOf(path, "manager"), "epc");
		const preview = await send(path, { ...read, epc: "0.5000", daily_click_cap: "5" });
		await change(path, { ...read, epc: "0.6000" }, "admin");
		for (const late of [{ ...read, epc: "0.5000", daily_click_cap: "5" }, formOf(preview.text, "step")]) {
			const told = await send(path, late);
			expect(told.status).toBe(412);
			for (const part of ["Someone else has changed this meanwhile", "0.4000", "0.5000", "0.6000"]) expect(told.text).toContain(part);
			expect(await stored("SELECT epc_micros AS value FROM campaigns WHERE campaign_id = 12")).toBe(600_000);
			const again = formOf(told.text, "epc");
			expect([again.epc, again.daily_click_cap]).toEqual(["0.6000", "5"]);
		}
		const again = formOf((await send(path, { ...read, daily_click_cap: "5" })).text, "epc");
		await change(path, again);
		expect(await stored("SELECT epc_micros || ' ' || daily_click_cap AS value FROM campaigns WHERE campaign_id = 12")).toBe("600000 5");
	});

	it("that stops most of the campaigns asks first", async () => {
		const both = { "hats.example": 12, "bags.example": 13 };
		for (const [domain] of Object.entries(both)) {
			const path = `/console/operator/brands/${domain}`;
			await change(path, formOf(await textOf(path, "manager"), "fields"));
		}
		await importFile({ brands: [{ domain: "shoes.example", campaigns: [14, 15].map((id) => ({ ...brandEntry("x", id).campaigns[0] })) }] });
		const path = "/console/operator/brands/shoes.example";
		const preview = await send(path, formOf(await textOf(path, "manager"), "fields"));
		expect(preview.text).toContain("3 campaigns bid no more: 11, 14, 15");
		const doing = formOf(preview.text, "step");
		const asked = await send(path, doing);
		expect([asked.status, asked.text.includes('name="yes"')]).toEqual([422, true]);
		later();
		expect(await priceFor("shoes.example")).not.toBeNull();
		expect((await post(path, visitors.manager, { ...doing, yes: "true" })).status).toBe(303);
		later();
		expect(await priceFor("shoes.example")).toBeNull();
		await change(path, formOf(await textOf(path, "manager"), "fields"));
		later();
		expect(await priceFor("shoes.example")).not.toBeNull();
	});

	it("that stops bids for one publisher says so", async () => {
		const path = "/console/operator/publishers/acme";
		const preview = await send(path, formOf(await textOf(path, "manager"), "fields"));
		expect(preview.text).toContain("Publisher acme is bid for no more.");
		expect(preview.text).toContain("No campaign starts to bid.");
		// As if all of them stopped.
		expect(preview.text).not.toMatch(/No campaign bids/);
	});

	it("suspends a publisher, and blocks a brand for one", async () => {
		const path = "/console/operator/publishers/b";
		const block = formOf(await textOf(path, "manager"), "domain");
		const preview = await send(`${path}/block`, { ...block, domain: "shoes.example", country: "" });
		expect(preview.text).toContain("{&quot;domain&quot;:&quot;shoes.example&quot;}");
		const refused = await send(`${path}/block`, { ...block, domain: "no domain", country: "1" });
		expect([refused.status, formOf(refused.text, "domain")]).toEqual([422, { ...block, domain: "no domain", country: "1" }]);
		expect(refused.text.match(/class="fault"/g)).toHaveLength(2);
		expect((await send(`${path}/block`, { ...block, domain: "no domain" })).status).toBe(422);
		expect((await post(path, visitors.manager, formOf(preview.text, "step"))).status).toBe(303);
		later();
		expect([await priceFor("shoes.example", "b"), await priceFor("shoes.example")]).toEqual([null, expect.any(Number)]);
		expect((await send(`${path}/block`, { ...block, domain: "hats.example" })).status).toBe(412);
		await change(path, formOf(await textOf(path, "manager"), "fields"));
		expect(await stored("SELECT status AS value FROM publishers WHERE id = 'b'")).toBe("suspended");
		const text = await textOf(path);
		expect([text.includes("suspended"), text.includes("85.25%")]).toEqual([true, true]);
		await change(path, formOf(await textOf(path, "manager"), "fields"));
	});

	it("blocks and unblocks a brand for a publisher on the brand's own page", async () => {
		const path = "/console/operator/brands/bags.example";
		expect(await textOf(path)).not.toContain("/block");
		for (const publisher of ["", "nobody"]) expect((await send(`${path}/block`, { publisher })).status).toBe(publisher === "" ? 422 : 404);
		const typed = { publisher: "nobody", country: "US" };
		const refused = await send(`${path}/block`, typed);
		expect([formOf(refused.text, "publisher"), refused.text]).toEqual([typed, expect.stringContaining('class="fault"')]);
		// In capitals it is SS, which is a country.
		const none = await send(`${path}/block`, { ...formOf(await textOf(path, "manager"), "publisher"), publisher: "b", country: "ß" });
		expect([none.status, none.text.includes("must be a two-letter country code")]).toEqual([422, true]);
		const block = await send(`${path}/block`, { ...formOf(await textOf(path, "manager"), "publisher"), publisher: "b", country: "us" });
		expect(block.text).toContain("{&quot;domain&quot;:&quot;bags.example&quot;,&quot;country&quot;:&quot;US&quot;}");
		expect((await post("/console/operator/publishers/b", visitors.manager, formOf(block.text, "step"))).status).toBe(303);
		expect(await textOf("/console/operator/publishers?blocks=bags.example")).toContain("B &lt;b&gt;");
		expect(await textOf("/console/operator/publishers?blocks=hats.example")).toContain("No publisher is like that");
		const unblock = await send(`${path}/block`, formOf(await textOf(path, "manager"), "deed"));
		expect((await post("/console/operator/publishers/b", visitors.manager, formOf(unblock.text, "step"))).status).toBe(303);
		expect(await textOf(path)).toContain("It is blocked for nobody");
	});

	it("of a postback secret is an admin's, and never read back", async () => {
		const path = "/console/operator/platforms/northwind";
		visitors.admin = await signIn({ staff: "the admin" });
		const secretNow = () => stored("SELECT postback_secret AS value FROM platforms WHERE id = 'northwind'");
		expect(await textOf(path, "manager")).not.toContain(`${path}/secret`);
		const form = formOf(await textOf(path, "admin"), "postback_secret");
		expect(form).not.toMatchObject({ postback_secret: expect.stringMatching(/./) });
		expect((await send(`${path}/secret`, { ...form, postback_secret: "another-secret-of-it" })).status).toBe(403);
		for (const postback_secret of ["", "short"]) {
			const refused = await send(`${path}/secret`, { ...form, postback_secret }, "admin");
			expect([refused.status, refused.text.includes("Nothing was changed")]).toEqual([422, true]);
			expect(formOf(refused.text, "postback_secret").etag).toBe(form.etag);
		}
		const set = { ...form, postback_secret: "another-secret-of-it" };
		expect((await send(`${path}/secret`, set, "admin")).status).toBe(303);
		expect(await secretNow()).toBe("another-secret-of-it");
		expect((await send(`${path}/secret`, set, "admin")).status).toBe(412);
		const text = await textOf(path, "admin");
		expect(text).not.toContain("another-secret-of-it");
		expect((await send(`${path}/secret`, formOf(text, "remove"), "admin")).status).toBe(303);
		expect(await secretNow()).toBeNull();
		const { results } = await env.DB.prepare("SELECT before, after FROM audit WHERE verb = 'changePlatformEntry'").all();
		expect(JSON.stringify(results)).not.toMatch(/secret-of/);
	});

	it("of a callback address takes whoever has just shown that it is they; of an identity an admin, too", async () => {
		const path = "/console/operator/publishers/acme";
		const form = formOf(await textOf(path, "manager"), "callback_url");
		const fresh = visitors.manager;
		visitors.manager = await signIn({ staff: "the manager" });
		expect((await send(path, { ...form, publisher_identity: "another" })).text).toContain("takes the role admin");
		await change(path, { ...form, callback_url: "https://acme.example/new" });
		later(11);
		const stale = formOf(await textOf(path, "manager"), "callback_url");
		for (const fields of [{ callback_url: "https://evil.example/" }, { fields: '{"access_key":"another-key"}', step: "do" }]) {
			const told = await send(path, { ...stale, ...fields });
			expect([told.status, told.text.includes("/console/confirm")]).toEqual([422, true]);
		}
		expect((await send(path, { ...stale, name: "Acme Media" })).status).toBe(200);
		expect((await send("/console/operator/new/publishers", { id: "c" })).text).toContain("/console/confirm");
		expect(await stored("SELECT callback_url AS value FROM publishers WHERE id = 'acme'")).toBe("https://acme.example/new");
		visitors.manager = fresh ?? visitors.manager;
		for (const role of ["manager", "admin"]) visitors[role] = await signIn({ staff: `the ${role}` });
	});
});

describe("worker: a new entry", () => {
	it("is looked at, then added, and its keys are shown once", async () => {
		const path = "/console/operator/new/publishers";
		const empty = formOf(await textOf(path, "manager"), "revenue_share");
		const missing = await send(path, empty);
		expect([missing.status, missing.text.includes("is required")]).toEqual([422, true]);
		const form = { ...empty, id: "new", name: "New", revenue_share: "0.7", pricing_model: "CPC" };
		const preview = await send(path, form);
		expect([preview.status, preview.text.includes("publisher new: added")]).toEqual([200, true]);
		expect(await stored("SELECT count(*) AS value FROM publishers WHERE id = 'new'")).toBe(0);
		const doing = formOf(preview.text, "step");
		const done = await send(path, doing);
		expect(done.status).toBe(200);
		for (const part of ["publisher key", "access key", "publisher identity", "/console/operator/publishers/new"])
			expect(done.text).toContain(part);
		for (const twice of [doing, form, { ...form, id: "acme" }]) {
			const told = await send(path, twice);
			expect([told.status, told.text.includes("is there already")]).toEqual([422, true]);
		}
	});

	it("of a campaign takes a brand that there is, and bids", async () => {
		const path = "/console/operator/new/campaigns";
		const empty = formOf(await textOf(`${path}?brand=shoes.example`, "manager"), "brand");
		expect(empty.brand).toBe("shoes.example");
		const form = {
			...empty,
			campaign_id: "21",
			merchant_id: "1",
			platform: "northwind",
			country: "DE",
			homepage_url: "https://track.example/c",
			epc: "0.4",
		};
		expect((await send(path, { ...form, brand: "nobody.example" })).text).toContain("is no brand&#39;s domain");
		expect((await send(path, { ...form, campaign_id: "11" })).text).toContain("is there already");
		expect(await change(path, form)).toContain("Campaign 21 bids from now on");
		expect(await textOf("/console/operator/campaigns/21")).toContain("shoes.example");
	});
});
