/** Signing in to the console by one-time links, and what sessions last. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/db/client.ts";
import { removeOld } from "../../../src/retention/remove-old.ts";
import { cookieOf, get, issueLink, OWN, post, shown, signIn } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, importFile } from "../../support/network-import.ts";

const START = "2026-11-18T15:00:00Z";
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const later = (ms: number) => setNow(new Date(Date.parse(START) + ms).toISOString());
const pathOf = (url: string) => new URL(url).pathname;

beforeAll(async () => {
	setNow(START);
	await importFile({
		publishers: [
			ACME,
			{
				...ACME,
				id: "other",
				publisher_id: "1002",
				publisher_identity: "other",
				access_key: "access-key-other",
				publisher_key: "publisher-key-other",
			},
		],
	});
});

describe("worker: a one-time link", () => {
	it("shows a button, and signs in by POST alone, once", async () => {
		const { url, purpose, expires_at } = await issueLink({ publisher: "acme", name: "Ada" });
		expect([purpose, expires_at]).toEqual(["invitation", "2026-11-21T15:00:00.000Z"]);
		for (const _ of [1, 2]) {
			const page = await get(pathOf(url));
			expect([page.status, page.headers.get("set-cookie")]).toEqual([200, null]);
			expect(await page.text()).toContain("<strong>Ada</strong> of Acme");
		}
		const used = await post(pathOf(url));
		expect([used.status, used.headers.get("location")]).toEqual([303, "/console"]);
		expect(used.headers.get("set-cookie")).toMatch(/^__Host-session=[\w-]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
		const again = await shown(post(pathOf(url)));
		expect([again.status, again.text]).toEqual([410, expect.stringContaining("was used already")]);
		expect((await get(pathOf(url))).status).toBe(410);
		const visitor = { cookie: cookieOf(used) };
		const home = await get("/console", visitor);
		expect([home.status, home.headers.get("location")]).toEqual([303, "/console/earnings"]);
		expect((await get("/console/earnings", visitor)).status).toBe(200);
	});

	it("ends the session that the browser had", async () => {
		const before = await signIn({ publisher: "acme", name: "Before" });
		const { url } = await issueLink({ publisher: "other", name: "After" });
		expect((await post(pathOf(url), before)).status).toBe(303);
		expect((await get("/console/earnings", before)).headers.get("location")).toContain("ended=1");
	});

	it("of two who use it at once, signs in one", async () => {
		const { url } = await issueLink({ publisher: "acme", name: "Race" });
		const both = await Promise.all([post(pathOf(url)), post(pathOf(url))]);
		expect(both.map(({ status }) => status).sort()).toEqual([303, 410]);
		const { count } =
			(await env.DB.prepare(
				"SELECT count(*) AS count FROM console_sessions s JOIN console_people p ON p.id = s.person_id WHERE p.name = 'Race'",
			).first<{ count: number }>()) ?? {};
		expect(count).toBe(1);
	});

	it("ends after its time, and with the next one", async () => {
		const first = await issueLink({ publisher: "acme", name: "Grace" });
		later(72 * HOUR_MS - 1);
		expect((await get(pathOf(first.url))).status).toBe(200);
		later(72 * HOUR_MS);
		expect(await shown(post(pathOf(first.url)))).toMatchObject({ status: 410, text: expect.stringContaining("too old") });
		const second = await issueLink({ publisher: "acme", name: "Grace" });
		expect(second.purpose).toBe("sign_in");
		later(72 * HOUR_MS + 15 * MINUTE_MS);
		expect((await post(pathOf(second.url))).status).toBe(410);
		const third = await issueLink({ publisher: "acme", name: "Grace" });
		await issueLink({ publisher: "acme", name: "Grace" });
		expect(await shown(get(pathOf(third.url)))).toMatchObject({
			status: 410,
			text: expect.stringContaining("a newer one has replaced it"),
		});
		setNow(START);
	});

	it.each(["short", `${"A".repeat(43)}`, "%00", `${"A".repeat(300)}`])("that is none of ours: %s", async (token) => {
		expect((await get(`/console/sign-in/${token}`)).status).toBe(410);
		expect((await post(`/console/sign-in/${token}`)).status).toBe(410);
	});
});

describe("worker: a session", () => {
	it("of a publisher's person ends unused after 12 hours, and after 7 days in all", async () => {
		const ada = await signIn({ publisher: "acme", name: "Idle" });
		const statusAfter = async (ms: number) => {
			later(ms);
			return (await get("/console/earnings", ada)).status;
		};
		expect(await statusAfter(12 * HOUR_MS - 1)).toBe(200);
		for (let hours = 20; hours < 168; hours += 8) expect([hours, await statusAfter(hours * HOUR_MS)]).toEqual([hours, 200]);
		expect(await statusAfter(168 * HOUR_MS)).toBe(303);
		setNow(START);
		const idle = await signIn({ publisher: "acme", name: "Idle" });
		later(12 * HOUR_MS);
		const gone = await get("/console/earnings?group=day", idle);
		expect(gone.headers.get("location")).toBe("/console/sign-in?ended=1&next=%2Fconsole%2Fearnings%3Fgroup%3Dday");
		expect(gone.headers.get("set-cookie")).toContain("Max-Age=0");
		setNow(START);
	});

	it("that ended while someone wrote leads back to where they were, and says that nothing was saved", async () => {
		const ada = await signIn({ publisher: "acme", name: "Writes" });
		later(12 * HOUR_MS);
		for (const [page, next] of [
			["/console/claims?state=open", "/console/claims?state=open"],
			["/console/claims/c-1", "/console/claims/c-1"],
			["/console/claims/c-1/reply", "/console/claims/c-1"],
			["/console/nothing/there", "/console"],
			["/elsewhere", "/console"],
		] as const) {
			const { status, text } = await shown(
				post("/console/claims", ada, { text: "It was bought." }, { ...OWN, referer: OWN.origin + page }),
			);
			expect([page, status, text.includes("Nothing was saved.")]).toEqual([page, 401, true]);
			expect(text).toContain(`<a href="/console/sign-in?${new URLSearchParams({ next })}">`);
		}
		setNow(START);
	});

	it("of staff ends unused after 8 hours, and after 24 in all", async () => {
		const bo = await signIn({ staff: "bo", role: "viewer" });
		const statusAfter = async (ms: number) => {
			later(ms);
			return (await get("/console/operator", bo)).status;
		};
		expect([await statusAfter(8 * HOUR_MS - 1), await statusAfter(15 * HOUR_MS), await statusAfter(22 * HOUR_MS)]).toEqual([200, 200, 200]);
		expect(await statusAfter(24 * HOUR_MS)).toBe(303);
		setNow(START);
		const idle = await signIn({ staff: "bo" });
		later(8 * HOUR_MS);
		expect((await get("/console/operator", idle)).status).toBe(303);
		setNow(START);
	});

	it("ends where its person signs out", async () => {
		const ada = await signIn({ publisher: "acme", name: "Leaves" });
		const out = await post("/console/sign-out", ada);
		expect([out.status, out.headers.get("set-cookie")]).toEqual([303, expect.stringContaining("Max-Age=0")]);
		expect((await get("/console/earnings", ada)).status).toBe(303);
	});
});

describe("worker: what nobody can sign in with any more", () => {
	it("is removed in its time, and nothing else is", async () => {
		await env.DB.batch(["console_sessions", "console_links", "console_challenges"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
		const visitor = await signIn({ publisher: "acme", name: "Kept" });
		await env.DB.prepare("INSERT INTO console_challenges (challenge, purpose, expires_at) VALUES ('c', 'sign_in', ?)")
			.bind(Date.parse(START) + 1)
			.run();
		const left = async (ms: number) => {
			later(ms);
			await removeOld({ db: openDatabase(env.DB), now: () => Date.now(), clickDays: 400, archive: undefined });
			const counts = ["console_sessions", "console_links", "console_challenges"].map((table) =>
				env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>("n"),
			);
			return Promise.all(counts);
		};
		expect(await left(1)).toEqual([1, 1, 1]);
		expect(await left(2)).toEqual([1, 1, 0]);
		expect((await get("/console/earnings", visitor)).status).toBe(200);
		expect(await left(168 * HOUR_MS)).toEqual([1, 1, 0]);
		expect(await left(168 * HOUR_MS + 1)).toEqual([0, 1, 0]);
		expect(await left((72 + 30 * 24) * HOUR_MS)).toEqual([0, 1, 0]);
		expect(await left((72 + 30 * 24) * HOUR_MS + 1)).toEqual([0, 0, 0]);
		setNow(START);
	});
});

describe("worker: a request that may change something", () => {
	it.each([
		["without either header", {}],
		["of another site", { "sec-fetch-site": "cross-site" }],
		["of another host of this site", { "sec-fetch-site": "same-site", origin: OWN.origin }],
		["that a person typed", { "sec-fetch-site": "none" }],
		["of another origin", { origin: "https://evil.example" }],
		["of no origin", { origin: "null" }],
		["of an origin that begins alike", { origin: `${OWN.origin}.evil.example` }],
	])("%s is refused", async (_, headers) => {
		const { url } = await issueLink({ publisher: "acme", name: "Guarded" });
		expect(await shown(post(pathOf(url), undefined, {}, headers))).toMatchObject({
			status: 403,
			text: expect.stringContaining("did not come from a page of the console"),
		});
		expect((await post(pathOf(url), undefined, {}, { origin: OWN.origin })).status).toBe(303);
	});
});
