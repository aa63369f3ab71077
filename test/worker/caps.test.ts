/** Caps on real D1 and KV, with a clock of the test's own: when campaigns pause, by how much they overshoot, when they resume. */
import { createScheduledController } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { PAUSED_HEAD_KEY, PAUSED_KEY } from "../../src/campaign-book/format.ts";
import { SPENT_EVER, sweepCaps, sweepImportedCaps } from "../../src/clicks/consumer/caps.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { PAUSE_PROPAGATION_MS } from "../../src/clicks/consumer/decide-pause.ts";
import { publishPauses } from "../../src/clicks/consumer/publish-pauses.ts";
import { openDatabase } from "../../src/db/client.ts";
import { wrapD1 } from "../../src/db/wrap-d1.ts";
import { SECOND_MS } from "../../src/lib/time.ts";
import worker from "../../src/worker.ts";
import { capDeps, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { clickUrlOrNull, follow } from "../support/clicks.ts";
import { ON_D1 } from "../support/engine.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { ACME, brandEntry, importExactly, importFile, NORTHWIND, OPERATOR_HEADERS, priceFor } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";

const NOON = Date.parse("2026-11-18T17:00:00Z");
const BID_MICROS = 200_000;
/** How long the queue collects a batch. */
const BATCH_MS = 2 * SECOND_MS;

/** The second that KV needs between two writes has passed; only what is about that waits for it. */
const passSecond = () => env.DB.prepare("UPDATE pause_publication SET next_write_at = 0").run();

/** A campaign of the zone of New York with these caps and no others. */
async function setCaps(
	caps: { daily_click_cap?: number | null; daily_budget?: string; total_budget?: string },
	timezone = "America/New_York",
): Promise<void> {
	await passSecond();
	await importExactly({ brands: [brandEntry("shoes.example", 5001, {}, { daily_click_cap: null, timezone, ...caps })] });
}

const paused = async () => JSON.parse((await env.BOOK.get(PAUSED_KEY)) ?? '{"campaigns":[]}').campaigns as number[];
const pauses = () => rowsOf("SELECT campaign_id, cap FROM campaign_pauses");

/** The minute's sweep. */
async function sweep(now: number): Promise<void> {
	await passSecond();
	await sweepCaps(capDeps(() => now));
}

/** Consumes these messages as the queue would. */
async function consume(now: number, messages: readonly object[]): Promise<void> {
	await passSecond();
	await consumeClicks(
		capDeps(() => now),
		letters(...messages),
	);
}

/** Consumes clicks that were made at `at`. */
function click(count: number, at: number, now = at): Promise<void> {
	return consume(
		now,
		Array.from({ length: count }, (_, which) => clickMessage({ at: at - which, bidMicros: BID_MICROS })),
	);
}

/** Clicks come evenly, and go on until the pause is known everywhere, also one that there is already. Returns how many were billed. */
async function clickSteadily(perSecond: number, from: number, seconds: number): Promise<number> {
	let now = from;
	let pausedAt = (await paused()).includes(5001) ? from : Number.POSITIVE_INFINITY;
	let hasPublished = true;
	const deps = capDeps(
		() => now,
		(campaigns) => {
			hasPublished = true;
			if (campaigns.includes(5001)) pausedAt = Math.min(pausedAt, now);
		},
	);
	const gapMs = SECOND_MS / perSecond;
	let clicked = 0;
	for (now = from + BATCH_MS; now <= from + seconds * SECOND_MS; now += BATCH_MS) {
		const batch = [];
		for (let at = from + clicked * gapMs; at < now && at < pausedAt + PAUSE_PROPAGATION_MS - BATCH_MS; at += gapMs) {
			batch.push(clickMessage({ at: Math.floor(at), bidMicros: BID_MICROS }));
			clicked++;
		}
		if (batch.length > 0) {
			if (hasPublished) await passSecond();
			hasPublished = false;
			await consumeClicks(deps, letters(...batch));
		}
		if (pausedAt < now - PAUSE_PROPAGATION_MS) break;
	}
	const [billed] = await rowsOf<{ count: number }>("SELECT count(*) AS count FROM clicks WHERE reason IS NULL");
	return billed?.count ?? 0;
}

beforeAll(async () => {
	await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("boots.example", 5002)] });
});

beforeEach(async () => {
	await forgetTraffic("campaign_pauses");
	await env.DB.prepare("UPDATE pause_publication SET changes = 0, published = 0, next_write_at = 0").run();
	await env.BOOK.delete(PAUSED_KEY);
	await env.BOOK.delete(PAUSED_HEAD_KEY);
});

afterEach(() => {
	vi.useRealTimers();
});

describe("worker: a cap that is met pauses the campaign", () => {
	it("a total budget that an import brings and that was spent on earlier days pauses at once, without a click", async () => {
		await setCaps({});
		await click(2, NOON);
		expect(await rowsOf("SELECT * FROM campaign_totals")).toEqual([]);
		await setCaps({ total_budget: "0.40" });
		await sweepImportedCaps(capDeps(() => NOON + 3 * 86_400_000));
		expect(await pauses()).toEqual([{ campaign_id: 5001, cap: "total_budget" }]);
		expect(await paused()).toEqual([5001]);
		// It is made of the days anew where there was none meanwhile.
		await setCaps({});
		await setCaps({ total_budget: "0.40" });
		expect(await rowsOf("SELECT campaign_id, click_count FROM campaign_totals")).toEqual([{ campaign_id: 5001, click_count: 2 }]);
	});

	it("by clicks of the day", async () => {
		await setCaps({ daily_click_cap: 3 });
		await click(2, NOON);
		expect(await paused()).toEqual([]);
		await click(1, NOON + 1_000);
		expect(await paused()).toEqual([5001]);
		expect(await pauses()).toEqual([{ campaign_id: 5001, cap: "daily_clicks" }]);
	});

	it("by what the day's clicks were bid", async () => {
		await setCaps({ daily_budget: "0.60" });
		await click(2, NOON);
		expect(await paused()).toEqual([]);
		await click(1, NOON + 1_000);
		expect(await pauses()).toEqual([{ campaign_id: 5001, cap: "daily_budget" }]);
	});

	it("by what all clicks were bid, of whatever day", async () => {
		await setCaps({ total_budget: "0.60" });
		await click(2, NOON - 3 * 86_400_000);
		await click(1, NOON);
		expect(await pauses()).toEqual([{ campaign_id: 5001, cap: "total_budget" }]);
		await sweep(NOON + 86_400_000);
		expect(await paused()).toEqual([5001]);
	});

	it("by a budget that is too small for one more click, until it is raised", async () => {
		for (const budget of ["daily_budget", "total_budget"]) {
			await setCaps({ [budget]: "0.7" });
			await click(2, NOON);
			expect(await pauses()).toEqual([]);
			await click(1, NOON);
			expect(await pauses()).toEqual([{ campaign_id: 5001, cap: budget }]);
			await sweep(NOON + 2 * PAUSE_PROPAGATION_MS);
			expect(await paused()).toEqual([5001]);
			await setCaps({ [budget]: "0.8" });
			await sweep(NOON + 3 * PAUSE_PROPAGATION_MS);
			expect(await paused()).toEqual([]);
			// A lowered one, by the sweep.
			await setCaps({ [budget]: "0.75" });
			await sweep(NOON + 4 * PAUSE_PROPAGATION_MS);
			expect(await paused()).toEqual([5001]);
			await forgetTraffic();
		}
	});

	it("clicks that do not count use up no cap, and neither does a message that comes twice", async () => {
		await setCaps({ daily_click_cap: 3 });
		const [first, second] = [clickMessage({ at: NOON }), clickMessage({ at: NOON })];
		const uncounted = (["bot", "head", "prefetch", "test", "expired"] as const).map((reason) => clickMessage({ at: NOON, reason }));
		const deps = capDeps(() => NOON);
		await consumeClicks(deps, letters(first, second, ...uncounted));
		await consumeClicks(deps, letters(first, second, { ...clickMessage({ at: NOON }), hash: first.hash }));
		expect(await paused()).toEqual([]);
	});

	it("and no other campaign", async () => {
		await setCaps({ daily_click_cap: 1 });
		await click(1, NOON);
		await consume(NOON, [clickMessage({ at: NOON, campaignId: 5002 })]);
		expect(await paused()).toEqual([5001]);
	});
});

describe("worker: a steady rate", () => {
	it("far below the cap by pace: ends at the cap, for the pause comes early enough", async () => {
		await setCaps({ daily_click_cap: 1_000 });
		const billed = await clickSteadily(5, NOON, 600);
		expect(billed).toBeGreaterThan(950);
		expect(billed).toBeLessThanOrEqual(1_010);
	});

	it("of a budget: ends at the budget", async () => {
		await setCaps({ daily_budget: "160.00" });
		const billed = await clickSteadily(4, NOON, 600);
		expect(billed * BID_MICROS).toBeGreaterThan(0.95 * 160e6);
		expect(billed * BID_MICROS).toBeLessThanOrEqual(1.01 * 160e6);
	});

	it("that meets its cap before its pace is known: overshoots by no more than the propagation brings", async () => {
		await setCaps({ daily_click_cap: 100 });
		const billed = await clickSteadily(5, NOON, 600);
		expect(billed).toBeGreaterThanOrEqual(100);
		expect(billed).toBeLessThanOrEqual(100 + (5 * PAUSE_PROPAGATION_MS) / SECOND_MS);
	});

	it.each([
		[19, []],
		[20, [5001]],
	])("of %d clicks in the last minute: a pace from the twentieth on", async (count, expected) => {
		// Twenty clicks of a minute stand for as many more in the 72 seconds to come; one click fewer is no pace.
		await setCaps({ daily_click_cap: count + 20 });
		const messages = Array.from({ length: count }, (_, which) => clickMessage({ at: NOON + which * 3_000, bidMicros: BID_MICROS }));
		const now = NOON + (count - 1) * 3_000;
		await consume(now, messages);
		expect(await paused()).toEqual(expected);
	});

	it("so slow that it is no pace: reaches its cap to the click", async () => {
		await setCaps({ daily_click_cap: 12 });
		for (let at = 0; at < 12; at++) {
			expect(await paused()).toEqual([]);
			await click(1, NOON + at * 10_000);
		}
		expect(await paused()).toEqual([5001]);
	});
});

describe("worker: a paused campaign", () => {
	it("stays paused until the pause is known everywhere; then what came of its pace is counted, and it bids for what its cap has left", async () => {
		await setCaps({ daily_click_cap: 200 });
		const messages = Array.from({ length: 150 }, (_, which) => clickMessage({ at: NOON + which * 100, bidMicros: BID_MICROS }));
		const pausedAt = NOON + 15_000;
		await consume(pausedAt, messages);
		expect(await paused()).toEqual([5001]);
		await sweep(pausedAt + PAUSE_PROPAGATION_MS);
		expect(await paused()).toEqual([5001]);
		await sweep(pausedAt + PAUSE_PROPAGATION_MS + 1);
		expect(await paused()).toEqual([]);
		await click(50, pausedAt + 120_000);
		await sweep(NOON + 6 * 3_600_000);
		expect(await paused()).toEqual([5001]);
	});

	it("of a steady pace bids and pauses by turns until its cap is met to the click, and is then paused for its day", async () => {
		await setCaps({ daily_click_cap: 1_000 });
		let from = NOON;
		for (let turn = 0; turn < 3; turn++) {
			await clickSteadily(5, from, 600);
			from += 600 * SECOND_MS;
			await sweep(from);
		}
		const [billed] = await rowsOf<{ count: number }>("SELECT count(*) AS count FROM clicks WHERE reason IS NULL");
		expect(billed?.count).toBe(1_000);
		await sweep(NOON + 6 * 3_600_000);
		expect(await paused()).toEqual([5001]);
	});

	it.each([
		["an ordinary day", "2026-11-18T17:00:00Z", "2026-11-19T05:00:00Z"],
		["the day of 23 hours", "2026-03-08T17:00:00Z", "2026-03-09T04:00:00Z"],
		["the day of 25 hours", "2026-11-01T17:00:00Z", "2026-11-02T05:00:00Z"],
	])("resumes at midnight on its own clocks: %s", async (_, clickedAt, midnight) => {
		await setCaps({ daily_click_cap: 3 });
		await click(3, Date.parse(clickedAt));
		await sweep(Date.parse(midnight) - 1);
		expect(await paused()).toEqual([5001]);
		await sweep(Date.parse(midnight));
		expect(await paused()).toEqual([]);
		await click(2, Date.parse(midnight) + 1_000);
		expect(await paused()).toEqual([]);
		await click(1, Date.parse(midnight) + 2_000);
		expect(await paused()).toEqual([5001]);
	});

	it.each([
		["Pacific/Kiritimati", "UTC+14", "2026-11-18T10:30:00Z"],
		["Pacific/Tongatapu", "UTC+13", "2026-11-18T11:30:00Z"],
		["Pacific/Fiji", "UTC+12", "2026-11-18T12:30:00Z"],
		["UTC", "UTC", "2026-11-18T12:30:00Z"],
		["Etc/GMT+12", "UTC-12", "2026-11-18T11:30:00Z"],
	])("in %s (%s) the minute's sweep finds what its day has spent, whatever day it is in UTC", async (timezone, _, at) => {
		const now = Date.parse(at);
		await setCaps({ daily_click_cap: 3 }, timezone);
		await click(2, now - 1_000, now);
		await env.DB.prepare("UPDATE campaigns SET daily_click_cap = 2 WHERE campaign_id = 5001").run();
		await sweep(now);
		expect(await paused()).toEqual([5001]);
	});

	it("for the pace of a day resumes at its end, however small its cap is beside that pace", async () => {
		await setCaps({ daily_click_cap: 21 });
		const midnight = Date.parse("2026-11-19T05:00:00Z");
		const messages = Array.from({ length: 20 }, (_, which) =>
			clickMessage({ at: midnight - 60_000 + which * 2_500, bidMicros: BID_MICROS }),
		);
		const pausedAt = midnight - 10_000;
		await consume(pausedAt, messages);
		expect(await paused()).toEqual([5001]);
		await sweep(midnight - 1);
		expect(await paused()).toEqual([5001]);
		await sweep(midnight);
		expect(await paused()).toEqual([]);
	});

	it("clicks of yesterday that arrive late count for yesterday", async () => {
		await setCaps({ daily_click_cap: 3 });
		const midnight = Date.parse("2026-11-19T05:00:00Z");
		await click(3, midnight - 1_000, midnight + 5_000);
		expect(await paused()).toEqual([]);
	});

	it("resumes when its cap is raised or removed, and pauses when it is lowered", async () => {
		await setCaps({ daily_click_cap: 3 });
		await click(3, NOON);
		await setCaps({ daily_click_cap: 5 });
		await sweep(NOON + 60_000);
		expect(await paused()).toEqual([]);
		await setCaps({ daily_click_cap: 2 });
		await sweep(NOON + 120_000);
		expect(await paused()).toEqual([5001]);
		await setCaps({ daily_click_cap: null });
		await sweep(NOON + 180_000);
		expect(await paused()).toEqual([]);
	});

	it("stands without being written again each minute", async () => {
		await setCaps({ daily_click_cap: 3 });
		await click(3, NOON);
		await passSecond();
		const written: string[] = [];
		const client = wrapD1(env.DB, (texts) => void written.push(...texts.filter((text) => text.startsWith("INSERT"))));
		await sweepCaps({ ...capDeps(() => NOON + 60_000), db: openDatabase(client) });
		expect([await paused(), written]).toEqual([[5001], []]);
	});

	it("is still paused after the KV key was lost or spoilt", async () => {
		await setCaps({ daily_click_cap: 3 });
		await click(3, NOON);
		await env.BOOK.delete(PAUSED_KEY);
		await sweep(NOON + 60_000);
		expect(await paused()).toEqual([5001]);
		await env.BOOK.put(PAUSED_KEY, "{ unreadable");
		await sweep(NOON + 120_000);
		expect(await paused()).toEqual([5001]);
	});

	it("many who pause at once are published by few writes, a second apart, and the last holds them all", async () => {
		const ids = Array.from({ length: 8 }, (_, at) => 6001 + at);
		const brands = ids.map((id) => brandEntry(`hat-${id}.example`, id, {}, { daily_click_cap: 1, timezone: "UTC" }));
		await importFile({ brands });
		await passSecond();
		const writes: { key: string; at: number }[] = [];
		const put = async (key: string, value: string): Promise<void> => {
			writes.push({ key, at: Date.now() });
			await scheduler.wait(100);
			await env.BOOK.put(key, value);
		};
		const kv = new Proxy(env.BOOK, { get: (target, name) => (name === "put" ? put : Reflect.get(target, name).bind(target)) });
		// As many side by side as the queue has consumers.
		const lanes = [0, 1, 2, 3].map(async (lane) => {
			for (const campaignId of ids.filter((_, at) => at % 4 === lane)) {
				await consumeClicks({ ...capDeps(() => NOON), kv }, letters(clickMessage({ at: NOON, campaignId })));
			}
		});
		await Promise.all(lanes);
		expect(await paused()).toEqual(ids);
		for (const key of [PAUSED_KEY, PAUSED_HEAD_KEY]) {
			const times = writes.filter((write) => write.key === key).map(({ at }) => at);
			expect(times.length).toBeLessThan(ids.length);
			for (const [which, at] of times.slice(1).entries()) expect(at - (times[which] ?? 0)).toBeGreaterThanOrEqual(1_000);
		}
	});

	it("a writer that is gone does not hold up the others for good", async () => {
		await setCaps({ daily_click_cap: 1 });
		await env.DB.prepare("UPDATE pause_publication SET changes = 1, next_write_at = ?")
			.bind(Date.now() + 900)
			.run();
		await consumeClicks(
			capDeps(() => NOON),
			letters(clickMessage({ at: NOON })),
		);
		expect(await paused()).toEqual([5001]);
	});

	it("a key that an earlier version of the code wrote gets its head within a minute", async () => {
		await setCaps({ daily_click_cap: 1 });
		await click(1, NOON);
		await env.BOOK.put(PAUSED_KEY, JSON.stringify({ format: 1, campaigns: [5001] }));
		await sweep(NOON + 60_000);
		const [head, pauses] = await Promise.all(
			[PAUSED_HEAD_KEY, PAUSED_KEY].map(async (key) => JSON.parse((await env.BOOK.get(key)) ?? "{}")),
		);
		expect(head.version).toMatch(/^[\w-]{12}$/);
		expect(pauses).toEqual({ format: 1, version: head.version, campaigns: [5001] });
	});

	it("50,000 pauses are published, and end together", async () => {
		const insert = `WITH RECURSIVE n (id) AS (SELECT 100001 UNION ALL SELECT id + 1 FROM n WHERE id < 150000)
			INSERT INTO campaign_pauses (campaign_id, cap, day, paused_at, ahead_clicks, ahead_micros)
			SELECT id, 'daily_clicks', '2026-11-18', 0, 0, 0 FROM n`;
		await env.DB.batch([env.DB.prepare(insert), env.DB.prepare("UPDATE pause_publication SET changes = changes + 1")]);
		await publishPauses(capDeps(() => NOON));
		expect(await paused()).toHaveLength(50_000);
		// They are of no campaign that is still there.
		await sweep(NOON);
		expect(await pauses()).toEqual([]);
		expect(await paused()).toEqual([]);
	});

	it("where KV refuses, the clicks are written all the same, and the next sweep publishes", async () => {
		await setCaps({ daily_click_cap: 1 });
		const kv = new Proxy(env.BOOK, { get: () => () => Promise.reject(new Error("KV is down")) });
		await consumeClicks({ ...capDeps(() => NOON), kv }, letters(clickMessage({ at: NOON })));
		expect(await pauses()).toHaveLength(1);
		await sweep(NOON + 60_000);
		expect(await paused()).toEqual([5001]);
	});
});

describe("worker: from clicks to no-bids", () => {
	it("the bids of this Worker stop with the cap, its clicks still redirect, explain says why, and the cron resumes them", async () => {
		vi.useFakeTimers({ toFake: ["Date"], now: NOON });
		await setCaps({ daily_click_cap: 2 });
		const urls = [await clickUrlOrNull("shoes.example"), await clickUrlOrNull("shoes.example"), await clickUrlOrNull("shoes.example")];
		for (const url of urls.slice(0, 2)) expect((await follow(url ?? "")).status).toBe(302);
		await vi.waitFor(async () => expect(await priceFor("shoes.example")).toBeNull(), { timeout: 20_000, interval: 100 });
		expect((await follow(urls[2] ?? "")).status).toBe(302);
		const explained = await exports.default.fetch("http://origin.example/operator/explain", {
			method: "POST",
			headers: OPERATOR_HEADERS,
			body: JSON.stringify({ publisher_identity: "acme_rtb", request: { id: "a", imp: [{ id: "1" }], site: { domain: "shoes.example" } } }),
		});
		expect(await explained.text()).toContain("paused");
		vi.setSystemTime(NOON + 86_400_000);
		await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), env);
		expect(await priceFor("shoes.example")).toBe(0.2);
	});
});

it.runIf(ON_D1)("worker: a publish looks at campaigns with a total budget alone, and at no day of any", async () => {
	expect(await planOf(SPENT_EVER)).toEqual([
		"SCAN c USING INDEX campaigns_with_total_budget",
		"SEARCH t USING INTEGER PRIMARY KEY (rowid=?)",
		expect.stringMatching(/^SEARCH d USING .*\(.*campaign_id=\?.*\) LEFT-JOIN$/),
	]);
});
