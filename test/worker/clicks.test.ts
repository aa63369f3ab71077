/** From a bid to a recorded click, through the real queue into the real database. */
import { createScheduledController } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ClickTokens } from "../../src/click-token/token.ts";
import { ClickBatches } from "../../src/clicks/click-batches.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import type { RedirectDeps } from "../../src/clicks/deps.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { RecentVisits } from "../../src/clicks/recent-visits.ts";
import { routeClick } from "../../src/clicks/redirect-route.ts";
import { ClickSender } from "../../src/clicks/send-click.ts";
import { KEPT_CLICK_PREFIX, KEPT_CLICKS_PREFIX } from "../../src/lib/kept-keys.ts";
import worker from "../../src/worker.ts";
import { capDeps, rowsOf } from "../support/click-messages.ts";
import { BROWSER, clickRows, clickUrlFor, follow } from "../support/clicks.ts";
import { collectNoCompany } from "../support/collect-no-company.ts";
import { openClick } from "../support/golden/open-click.ts";
import { ACME, brandEntry, importFile, NORTHWIND } from "../support/network-import.ts";
import { openStoredBook } from "../support/stored-book.ts";

const DEEPLINK = { deeplink_url: "https://track.example/d?sub={click_id}&url={deeplink}", deeplink_verified: true };
const HASH = /^[0-9a-f]{32}$/;

function hashIn(response: Response): string {
	const hash = new URL(response.headers.get("location") ?? "").searchParams.get("sub") ?? "";
	expect(hash).toMatch(HASH);
	return hash;
}

const reasonsOf = async (hash: string, count: number) => (await clickRows({ hash, count })).map(({ reason }) => reason);

beforeAll(async () => {
	await importFile({
		platforms: [NORTHWIND],
		publishers: [{ ...ACME, pricing_model: "CPC" }],
		brands: [brandEntry("shoes.example", 5001, { aliases: ["shoes-outlet.example"] }, DEEPLINK)],
	});
});

afterEach(() => {
	vi.useRealTimers();
});

describe("worker: from a bid to a recorded click", () => {
	it("of a URL of 15 KB, the row keeps 2 KB at most", async () => {
		const names = ["subi", "psorc", "pcat", "subid1", "subid2", "subid3", "subid4", "subid5", "uid", "atag"];
		const long = encodeURIComponent("€".repeat(140));
		const url = `${await clickUrlFor("shoes.example")}&clickid=${"c".repeat(1_000)}${names.map((name) => `&${name}=${long}`).join("")}`;
		expect(url.length).toBeGreaterThan(13_000);
		const response = await follow(`${url}&padding=${"x".repeat(15_000 - url.length)}`);
		const [row = {}] = await clickRows({ hash: hashIn(response) });
		const columns = ["publisher_click_id", "source_id", ...names];
		const bytes = columns.reduce((sum, column) => sum + new TextEncoder().encode(String(row[column] ?? "")).byteLength, 0);
		expect(bytes).toBeGreaterThan(1_500);
		expect(bytes).toBeLessThanOrEqual(2_048);
	});

	it("redirects to the platform's link with the click hash, and records the click with all it carries", async () => {
		const url = await clickUrlFor("shoes.example", { clickId: "pub-click-1", tagId: "placement 9", buyerUid: "buyer-4" });
		const response = await follow(`${url}&subid1=one&subid2=%7Bsubid2%7D&psorc=news&pcat=sports`, { "cf-connecting-ip": "203.0.113.7" });
		expect(response.status).toBe(302);
		expect(response.headers.get("location")).toMatch(/^https:\/\/track\.example\/c\?sub=[0-9a-f]{32}$/);
		expect(response.headers.get("cache-control")).toBe("no-store");
		expect(response.headers.get("referrer-policy")).toBe("strict-origin-when-cross-origin");
		expect(response.headers.get("x-robots-tag")).toBe("noindex, nofollow");
		const hash = hashIn(response);
		const [row] = await clickRows({ hash });
		expect(row).toMatchObject({
			click_hash: hash,
			kind: "openrtb",
			reason: null,
			publisher_id: "acme",
			campaign_id: 5001,
			platform: "northwind",
			publisher_click_id: "pub-click-1",
			source_id: "placement 9",
			subi: "placement 9",
			psorc: "news",
			pcat: "sports",
			subid1: "one",
			subid2: null,
			uid: "buyer-4",
			bid_micros: 200_000,
			revenue_micros: 200_000,
			pricing_model: "CPC",
			country: "US",
			ip_prefix: "203.0.113.0/24",
		});
		expect(row?.user_agent_hash).toMatch(/^[0-9a-f]{16}$/);
		expect(JSON.stringify(row)).not.toContain("203.0.113.7");
		expect(JSON.stringify(row)).not.toContain(BROWSER.slice(0, 20));
	});

	it("the click hash is the MD5 of the auction's id: every call of its URL is the same click, and one of them is billed", async () => {
		const url = await clickUrlFor("shoes.example");
		const { rtuli } = await openClick(url);
		const md5 = new Uint8Array(await crypto.subtle.digest("MD5", new TextEncoder().encode(rtuli))).toHex();
		const calls = await Promise.all([follow(url), follow(url), follow(`${url}&clickid=other`)]);
		expect(calls.map(hashIn)).toEqual([md5, md5, md5]);
		const reasons = await reasonsOf(md5, 3);
		expect(reasons.filter((reason) => reason === null)).toHaveLength(1);
		expect(reasons.filter((reason) => reason === "duplicate")).toHaveLength(2);
	});

	it("a bid for a deeplink leads to its page through the platform's deeplink link", async () => {
		const url = await clickUrlFor("shoes.example", { deeplink: "https://shoes.example/p?a=1&b=2" });
		const location = new URL((await follow(url)).headers.get("location") ?? "");
		expect(location.pathname).toBe("/d");
		expect(location.searchParams.get("url")).toBe("https://shoes.example/p?a=1&b=2");
	});

	it("a click on a bid is learned of the link that the bid was priced by, whatever page its address names", async () => {
		const onPage = new URL(await clickUrlFor("shoes.example", { deeplink: "https://shoes.example/p" }));
		onPage.searchParams.delete("dl");
		const onHomepage = new URL(await clickUrlFor("shoes.example"));
		onHomepage.searchParams.set("dl", "https://shoes.example/p");
		const clicks = [await follow(onPage.href), await follow(onHomepage.href)];
		expect(clicks.map((click) => new URL(click.headers.get("location") ?? "").pathname)).toEqual(["/c", "/d"]);
		expect(await clickRows({ hash: hashIn(clicks[0] as Response) })).toMatchObject([{ link: "deeplink" }]);
		expect(await clickRows({ hash: hashIn(clicks[1] as Response) })).toMatchObject([{ link: "homepage" }]);
	});

	it("a click is of its campaign's country, whatever somebody has written into its address", async () => {
		for (const cc of ["QA", "CA", "", null]) {
			const url = new URL(await clickUrlFor("shoes.example"));
			if (cc === null) url.searchParams.delete("cc");
			else url.searchParams.set("cc", cc);
			const hash = hashIn(await follow(url.href));
			expect([cc, await clickRows({ hash })]).toMatchObject([cc, [{ country: "US" }]]);
		}
		expect(await rowsOf("SELECT DISTINCT country FROM daily_network")).toEqual([{ country: "US" }]);
	});

	it.each(["https://evil.example/", "javascript:alert(1)", "/p", "https://shoes.example\\@evil.example/"])(
		"dl=%s leads to the homepage",
		async (dl) => {
			const url = new URL(await clickUrlFor("shoes.example"));
			url.searchParams.set("dl", dl);
			expect((await follow(url.href)).headers.get("location")).toMatch(/^https:\/\/track\.example\/c\?sub=[0-9a-f]{32}$/);
		},
	);

	it("links on any earlier host keep working, and so do those of an older token key", async () => {
		const url = new URL(await clickUrlFor("shoes.example"));
		const elsewhere = await exports.default.fetch(`https://go.former-tracker.example${url.pathname}${url.search}`, {
			redirect: "manual",
			headers: { "user-agent": BROWSER },
		});
		expect(await reasonsOf(hashIn(elsewhere), 1)).toEqual([null]);
		const older = new ClickTokens(env.TOKEN_KEYS.split(",").slice(1));
		const { token } = await openClick(await clickUrlFor("shoes.example"));
		const response = await follow(`http://click.example/click?encyp=${await older.mint(token)}`);
		expect(await reasonsOf(hashIn(response), 1)).toEqual([null]);
	});
});

describe("worker: tracking links", () => {
	const listed = async () => {
		const response = await exports.default.fetch("http://base.example/api/brands-list", { headers: { AccessKey: ACME.access_key } });
		const { data } = await response.json<{ data: { click_url_homepage: string; click_url_deeplink: string }[] }>();
		return data[0] ?? { click_url_homepage: "", click_url_deeplink: "" };
	};

	it("as they are listed: unfilled placeholders are absent, each call is a click of its own, worth EPC × share", async () => {
		const { click_url_homepage: url } = await listed();
		const hashes = [hashIn(await follow(url)), hashIn(await follow(url))];
		expect(new Set(hashes).size).toBe(2);
		for (const hash of hashes) {
			const [row] = await clickRows({ hash });
			expect(row).toMatchObject({
				kind: "link",
				reason: null,
				publisher_id: "acme",
				publisher_click_id: null,
				source_id: null,
				subid1: null,
				subid5: null,
				bid_micros: 200_000,
				revenue_micros: 200_000,
			});
		}
	});

	it("filled in: everything is recorded, and dl leads to its page", async () => {
		const { click_url_deeplink: template } = await listed();
		const url = template
			.replace("{clickid}", "c-1")
			.replace("{dl}", encodeURIComponent("https://shoes.example/sale"))
			.replace("{psorc}", "blog")
			.replace("{subid5}", "five");
		const response = await follow(url);
		expect(new URL(response.headers.get("location") ?? "").searchParams.get("url")).toBe("https://shoes.example/sale");
		const [row] = await clickRows({ hash: hashIn(response) });
		expect(row).toMatchObject({
			publisher_click_id: "c-1",
			source_id: "blog",
			subi: null,
			psorc: "blog",
			subid5: "five",
			link: "deeplink",
		});
	});
});

describe("worker: clicks that do not count", () => {
	it("HEAD and prefetches redirect, are recorded, and leave the click to the one that follows", async () => {
		const url = await clickUrlFor("shoes.example");
		const head = await follow(url, {}, "HEAD");
		expect(head.status).toBe(302);
		const hash = hashIn(head);
		await follow(url, { "sec-purpose": "prefetch;prerender" });
		await follow(url, { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" });
		await clickRows({ hash, count: 3 });
		await follow(url);
		expect((await reasonsOf(hash, 4)).map(String).sort()).toEqual(["bot", "head", "null", "prefetch"]);
	});

	it("those of a test bid, whatever tsts says; and tsts does not make one of a real bid", async () => {
		const test = await clickUrlFor("shoes.example", { test: 1 });
		expect(await clickRows({ hash: hashIn(await follow(test.replace("&tsts=1", ""))) })).toMatchObject([
			{ reason: "test", bid_micros: 0, revenue_micros: 0 },
		]);
		const real = await clickUrlFor("shoes.example");
		expect(await reasonsOf(hashIn(await follow(`${real}&tsts=1`)), 1)).toEqual([null]);
	});

	it("those of an auction that is too long ago", async () => {
		const url = await clickUrlFor("shoes.example");
		vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 25 * 3_600_000 });
		const response = await follow(url);
		expect(response.status).toBe(302);
		vi.useRealTimers();
		expect(await reasonsOf(hashIn(response), 1)).toEqual(["expired"]);
	});
});

describe("worker: what is no click", () => {
	it("a token that is not ours, cut, altered or missing: 404, a short page, no redirect, nothing recorded", async () => {
		const before = await rowsOf("SELECT count(*) AS count FROM clicks");
		const url = new URL(await clickUrlFor("shoes.example"));
		const token = url.searchParams.get("encyp") ?? "";
		const { token: content } = await openClick(url.href);
		const strange = await new ClickTokens(["a key of somebody else, 32 characters at least"]).mint(content);
		const middle = token.length >> 1;
		const altered = token.slice(0, middle) + (token[middle] === "A" ? "B" : "A") + token.slice(middle + 1);
		for (const encyp of [strange, token.slice(0, -1), altered, `${token}A`, "", "%00", "abc", "A".repeat(5_000), "%E0%A4%A"]) {
			const response = await follow(`http://click.example/click?encyp=${encyp}&clickid=1`);
			expect(response.status).toBe(404);
			expect(response.headers.get("location")).toBeNull();
			expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
			expect((await response.text()).length).toBeLessThan(100);
		}
		expect((await follow("http://click.example/click")).status).toBe(404);
		await new Promise((resolve) => setTimeout(resolve, 500));
		expect(await rowsOf("SELECT count(*) AS count FROM clicks")).toEqual(before);
	});

	it("a link that cannot be made of the platform's template: an error, and nothing recorded, for the user was not sent anywhere", async () => {
		const unusable = { homepage_url: "https://{deeplink}.schuh.exämple/?sub={click_id}" };
		await importFile({ brands: [brandEntry("broken.example", 5009, {}, unusable)] });
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		const response = await follow(await clickUrlFor("broken.example"));
		expect(response.status).toBe(500);
		expect(log).toHaveBeenCalledOnce();
		log.mockRestore();
		const next = await follow(await clickUrlFor("shoes.example"));
		await clickRows({ hash: hashIn(next) });
		expect(await rowsOf("SELECT id FROM clicks WHERE campaign_id = 5009")).toEqual([]);
	});

	it("other methods: 405 with Allow", async () => {
		const response = await follow(await clickUrlFor("shoes.example"), {}, "POST");
		expect(response.status).toBe(405);
		expect(response.headers.get("allow")).toBe("GET, HEAD");
	});

	it("paths beside it are none of its", async () => {
		for (const path of ["/clicks", "/click/", "/click/x"]) expect((await follow(`http://click.example${path}`)).status).toBe(404);
	});
});

describe("worker: a redirect that was answered is never lost", () => {
	collectNoCompany();

	/** The redirect with the real book and faults where `failing` says so. */
	function redirect(failing: { queue?: boolean; late?: boolean; kept?: boolean; book?: boolean }) {
		const background: Promise<unknown>[] = [];
		const sent: ClickMessage[] = [];
		const deps: RedirectDeps = {
			book: openStoredBook(failing.book ? { kv: { get: () => Promise.reject<never>(new Error("KV is down")) } } : {}),
			tokens: new ClickTokens(env.TOKEN_KEYS.split(",")),
			store: {
				sender: new ClickSender({
					queue: {
						async send(message) {
							if (failing.queue) throw new Error("the queue is down");
							sent.push(message);
							if (failing.late) await new Promise(() => {});
						},
					},
					batches: new ClickBatches(
						{
							async put(key, value, options) {
								if (failing.kept) throw new Error("KV is down");
								await env.BOOK.put(key, value, options);
							},
						},
						async () => {},
					),
					pause: async () => {},
				}),
				connectionKey: "key",
				limits: { address: undefined, token: undefined, stripped: undefined },
				visits: new RecentVisits(),
			},
			clickTtlMs: 86_400_000,
			now: () => Date.now(),
			measure: undefined,
		};
		return {
			sent,
			async follow(url: string): Promise<Response> {
				const request = new Request(url, { headers: { "user-agent": BROWSER } });
				const response = await routeClick(deps, request, request.url, (promise) => void background.push(promise));
				await Promise.all(background);
				if (response === null) throw new Error("not a click");
				return response;
			},
		};
	}

	const kept = async () => (await env.BOOK.list({ prefix: KEPT_CLICKS_PREFIX })).keys.length;
	const runCron = () => worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), env);

	it("where the queue refuses it, it is kept in KV, and written by the cron", async () => {
		const url = await clickUrlFor("shoes.example", { clickId: "kept" });
		const response = await redirect({ queue: true }).follow(url);
		expect(response.status).toBe(302);
		expect(await kept()).toBe(1);
		await runCron();
		expect(await clickRows({ hash: hashIn(response) })).toMatchObject([{ reason: null, publisher_click_id: "kept" }]);
		expect(await kept()).toBe(0);
	});

	it("where the queue took it all the same, it is still one click", async () => {
		const tracker = redirect({});
		const response = await tracker.follow(await clickUrlFor("shoes.example"));
		const [message] = tracker.sent;
		await env.BOOK.put(`${KEPT_CLICK_PREFIX}${message?.id}`, JSON.stringify(message));
		await consumeClicks(capDeps(), [{ id: "m", body: message }]);
		await runCron();
		expect(await clickRows({ hash: hashIn(response) })).toHaveLength(1);
		expect(await kept()).toBe(0);
	});

	it("where the queue took it too late, and KV has it, it is counted once", async () => {
		const tracker = redirect({ late: true });
		const before = await rowsOf("SELECT coalesce(sum(click_count), 0) AS clicks FROM daily_publishers");
		const response = await tracker.follow(await clickUrlFor("shoes.example"));
		expect(await kept()).toBe(1);
		await runCron();
		expect(await kept()).toBe(0);
		await consumeClicks(
			capDeps(),
			tracker.sent.map((body) => ({ id: "late", body })),
		);
		expect(tracker.sent).toHaveLength(1);
		expect(await clickRows({ hash: hashIn(response) })).toMatchObject([{ reason: null }]);
		const after = await rowsOf("SELECT sum(click_count) AS clicks FROM daily_publishers");
		expect(Number(after[0]?.clicks) - Number(before[0]?.clicks)).toBe(1);
	});

	it("what is kept but no click becomes a dead letter", async () => {
		await env.BOOK.put(`${KEPT_CLICK_PREFIX}broken`, "{ unreadable");
		await runCron();
		expect(await kept()).toBe(0);
		expect(await rowsOf("SELECT queue, body FROM dead_letters")).toEqual([{ queue: "clicks", body: '"{ unreadable"' }]);
	});

	it("where nothing takes it, the user is redirected all the same, and the log says exactly what is missing", async () => {
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		const response = await redirect({ queue: true, kept: true }).follow(
			await clickUrlFor("shoes.example", { clickId: "secret-of-the-user" }),
		);
		expect(response.status).toBe(302);
		const lost = log.mock.calls.map(([line]) => String(line)).filter((line) => line.includes("click.lost"));
		expect(lost).toHaveLength(1);
		expect(JSON.parse(lost[0] ?? "")).toMatchObject({ hash: hashIn(response), publisher: "acme_rtb", campaign: 5001, bid_micros: 200_000 });
		expect(lost[0]).not.toContain("secret-of-the-user");
		log.mockRestore();
	});

	it("without any book: 503 and nothing recorded, for the user can try again", async () => {
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		const tracker = redirect({ book: true });
		const response = await tracker.follow(await clickUrlFor("shoes.example"));
		expect(response.status).toBe(503);
		expect(response.headers.get("retry-after")).toBe("5");
		expect(tracker.sent).toEqual([]);
		log.mockRestore();
	});
});
