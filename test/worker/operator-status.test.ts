/** GET /operator/status on real D1, KV and queues: each figure, and that each is found by an index. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { openDatabase } from "../../src/db/client.ts";
import { PROBLEM_KINDS } from "../../src/operator/status/problems-answer.ts";
import { daysQueries } from "../../src/operator/status/read-days.ts";
import { figuresQuery } from "../../src/operator/status/read-figures.ts";
import { grantedAmountsQuery } from "../../src/operator/status/read-paid-twice.ts";
import { problemQueries } from "../../src/operator/status/read-problems.ts";
import { readStatus } from "../../src/operator/status/read-status.ts";
import { trafficQueries } from "../../src/operator/status/read-traffic.ts";
import { unknownStatusesQuery } from "../../src/operator/status/read-unknown-statuses.ts";
import { type Status, statusSchema } from "../../src/operator/status/status-answer.ts";
import { Outbox, START } from "../support/callback-outbox.ts";
import { receiverUrl, setStatus } from "../support/callback-receiver.ts";
import { capDeps, clickMessage, letters } from "../support/click-messages.ts";
import { ON_BOTH, ON_D1 } from "../support/engine.ts";
import { ACME, brandEntry, importFile, NORTHWIND, OPERATOR_HEADERS } from "../support/network-import.ts";
import { planOf } from "../support/plan-of.ts";

async function getStatus(): Promise<Status> {
	const response = await exports.default.fetch("https://base.example/operator/status", { headers: OPERATOR_HEADERS });
	expect(response.status).toBe(200);
	return v.parse(statusSchema, await response.json());
}

function statusAt(now: number): Promise<Status> {
	const queues = { clicks: undefined, postbacks: undefined, callbacks: undefined };
	return readStatus({ db: openDatabase(env.DB), products: openDatabase(env.PRODUCTS), kv: env.BOOK, queues, now: () => now });
}

function addConversion(txnid: string, stage: string, heldFor: string | null): Promise<unknown> {
	return env.DB.prepare(
		`INSERT INTO conversions (platform, txnid, cid, stage, held_for, status, status_unknown, test, event_at, payout_micros, currency, event_count,
			first_received_at, updated_at, version) VALUES ('northwind', ?, 'c', ?, ?, 'approved', 0, 0, 0, 0, 'USD', 1, 0, 0, 1)`,
	)
		.bind(txnid, stage, heldFor)
		.run();
}

describe("worker: /operator/status", () => {
	it("needs the operator's key", async () => {
		expect((await exports.default.fetch("https://base.example/operator/status")).status).toBe(401);
	});

	it("before anything was imported: no book, and nothing else to tell", async () => {
		expect(await getStatus()).toEqual({
			at: expect.any(String),
			problems: [],
			book: null,
			book_changes_waiting: 0,
			queues: { clicks: expect.anything(), postbacks: expect.anything(), callbacks: expect.anything() },
			callbacks: { undelivered: { count: 0, oldest_at: null, oldest_age_seconds: null }, overdue: 0, exhausted: 0, paused: [] },
			clicks: { since: expect.any(String), paid: 0, unpaid: [], dropped: 0 },
			conversions: {
				...{ waiting: 0, unmatched: 0, quarantined: 0, held_for: { no_rate: 0, amount: 0, review: 0, publisher_suspended: 0 } },
				...{ credited_without_rate: 0, unknown_status: { count: 0, words: [] } },
			},
			sums: { compared_at: null, difference_count: 0, differences: [] },
			ledger: { checked_at: null, whole: null, difference_count: 0, differences: [] },
			days: { selected_at: null, without_digest: 0, to_renew: 0, oldest: null },
			cron: [],
			dead_letters: { clicks: 0, postbacks: 0, callbacks: 0 },
			kept: { clicks: 0, dead_letters: 0 },
			database_alert: null,
			products_bytes: expect.toSatisfy((bytes: number) => bytes > 4_096),
			products_alert: null,
			database_engine: ON_D1 || ON_BOTH ? "d1" : "postgres",
			database_bytes: expect.toSatisfy((bytes: number) => bytes > 4_096),
			paused_campaigns: { count: 0, campaigns: [] },
		});
	});
});

describe("worker: /operator/status of a network with troubles", () => {
	const outbox = new Outbox();

	beforeAll(async () => {
		await importFile({ platforms: [NORTHWIND], publishers: [ACME], brands: [brandEntry("shoes.example", 1)] });
		await env.BOOK.put("book:paused", JSON.stringify({ format: 1, campaigns: [7, 9] }));
		await setStatus("status", 500);
		await outbox.addPublisher("sick", receiverUrl("answer", "status"));
		for (let at = 0; at < 20; at++) await outbox.add("sick", `T${at}`);
		await outbox.work();
		outbox.now += 1_000;
		await outbox.add("sick", "lost", 1, "approved", false);
		const exhausted = await outbox.add("sick", "exhausted", 1, "approved", false);
		await env.DB.prepare("UPDATE callbacks SET state = 'exhausted', next_attempt_at = NULL WHERE id = ?").bind(exhausted).run();
		for (const [txnid, stage, heldFor] of [
			["1", "waiting", null],
			["2", "unmatched", null],
			["3", "unmatched", null],
			["4", "quarantined", "amount"],
			["5", "quarantined", "amount"],
			["6", "quarantined", "review"],
			["7", "settled", null],
			["8", "quarantined", "no_rate"],
			["9", "quarantined", "no_rate"],
			["10", "settled", null],
			["11", "settled", null],
			["12", "settled", null],
			["13", "settled", null],
			["14", "unmatched", null],
			["15", "quarantined", "no_rate"],
			["16", "quarantined", "no_rate"],
		] as const) {
			await addConversion(txnid, stage, heldFor);
		}
		// What is cancelled, by its platform or by a person, needs nobody.
		await env.DB.prepare("UPDATE conversions SET status = 'cancelled', payout_micros = 1000000 WHERE txnid IN ('14', '15')").run();
		// Nor does what counts nowhere, and waits for a rate all the same.
		await env.DB.prepare("UPDATE conversions SET test = 1, payout_micros = 1000000 WHERE txnid = '16'").run();
		await env.DB.prepare("UPDATE conversions SET payout_micros = 12345678 WHERE txnid = '2'").run();
		await env.DB.prepare("UPDATE conversions SET payout_micros = 5000000, currency = 'EUR' WHERE txnid = '1'").run();
		await env.DB.prepare("UPDATE conversions SET credited = 1 WHERE txnid IN ('4', '7', '9')").run();
		const setWord = env.DB.prepare(
			"UPDATE conversions SET status_unknown = 1, status = ?, network_status = ?, updated_at = ? WHERE txnid = ?",
		);
		await env.DB.batch([
			setWord.bind("pending", "x".repeat(300), 7_000, "10"),
			setWord.bind("pending", "{status}", 8_000, "11"),
			setWord.bind("pending", "{status}", 9_000, "12"),
			setWord.bind("cancelled", "{status}", 9_500, "13"),
		]);
		await env.DB.batch([
			env.DB.prepare(
				"INSERT INTO unpaid_hours (connection, hour, stored, dropped) VALUES ('a', ?1, 600, 40), ('b', ?1 - 23, 1, 2), ('c', ?1 - 24, 1, 9)",
			).bind(START / 3_600_000),
			env.DB.prepare("UPDATE reconciliation SET compared_at = ?").bind(START),
			env.DB.prepare(
				`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at) VALUES
					('1', 'acme', 'missing', 'x', 'answered', '[]', 2, 0, 1), ('2', 'acme', 'missing', 'y', 'open', '[]', 3, 1, ?1),
					('3', 'acme', 'missing', 'z', 'open', '[]', 1, 2, ?1 + 5), ('4', 'acme', 'missing', 'z', 'declined', '[]', 2, 0, 1)`,
			).bind(START),
			env.DB.prepare(
				`INSERT INTO sum_differences (day, counter, key, column_name, stored, counted, found_at) VALUES
					('', 'campaign_totals', '{"campaignId":5}', 'clickCount', 3, 2, 0),
					('2026-11-18', 'daily_sources', '{"publisherId":"acme","sourceId":"s"}', 'grossMicros', 1000000, 1500000, 0)`,
			),
		]);
		await consumeClicks(
			capDeps(),
			letters(
				...[
					clickMessage({ at: START - 1_000 }),
					clickMessage({ at: START - 5_000, reason: "bot" }),
					clickMessage({ at: START, reason: "head" }),
				],
				...[clickMessage({ at: START - 1_000, reason: "head" }), clickMessage({ at: START - 90_000_000, reason: "country" })],
			),
		);
		const addLetter = "INSERT INTO dead_letters (id, queue, body, received_at, replayed_at) VALUES (?, ?, '{}', 0, ?)";
		await env.DB.batch([
			env.DB.prepare(addLetter).bind("a", "postbacks", null),
			env.DB.prepare(addLetter).bind("b", "postbacks", null),
			env.DB.prepare(addLetter).bind("c", "clicks", null),
			env.DB.prepare(addLetter).bind("d", "clicks", 5),
		]);
	});

	it("names the book's version and age, and paused campaigns", async () => {
		const status = await getStatus();
		expect(status.book).toEqual({ version: 1, published_at: expect.any(String), age_seconds: expect.any(Number) });
		const later = await statusAt(Date.parse(status.book?.published_at ?? "") + 90_000);
		expect(later.book).toEqual({ ...status.book, age_seconds: 90 });
		expect(status.paused_campaigns).toEqual({ count: 2, campaigns: [7, 9] });
	});

	it("tells of changes that bids do not know since they were imported, and of a book that KV has lost", async () => {
		const found = async (now: number) =>
			(await statusAt(now)).problems.filter(({ kind }) => kind === "book_stale").map(({ count, since }) => [count, since]);
		const publishedAt = Date.parse((await getStatus()).book?.published_at ?? "");
		const changedAt = publishedAt + 20 * 86_400_000;
		expect(await found(changedAt)).toEqual([]);
		await env.DB.batch([
			env.DB.prepare("INSERT INTO network_versions (version, id, kind, at, actor) VALUES (?1, 'late', 'entry', ?1, 'operator')").bind(
				changedAt,
			),
			env.DB.prepare("INSERT INTO book_dirty_slots (slot, mark) VALUES (1, 1), (2, 1)"),
		]);
		expect(await found(changedAt + 2_000)).toEqual([]);
		expect(await found(changedAt + 301_000)).toEqual([[2, new Date(changedAt).toISOString()]]);
		await env.DB.batch([env.DB.prepare("DELETE FROM network_versions WHERE id = 'late'"), env.DB.prepare("DELETE FROM book_dirty_slots")]);
		const manifest = (await env.BOOK.get("book:manifest")) ?? "";
		await env.BOOK.delete("book:manifest");
		expect(await found(publishedAt)).toEqual([]);
		expect(await found(changedAt)).toEqual([[1, null]]);
		await env.BOOK.put("book:manifest", manifest);
	});

	it("counts what is owed to publishers, how old it is, and which addresses are paused", async () => {
		const status = await statusAt(START + 60_000);
		expect(status.callbacks).toEqual({
			undelivered: { count: 21, oldest_at: "2026-11-18T15:00:00.000Z", oldest_age_seconds: 60 },
			overdue: 1,
			exhausted: 1,
			paused: [{ publisher: "sick", since: "2026-11-18T15:00:00.000Z", failures_in_a_row: 20, next_probe_at: "2026-11-18T15:05:00.000Z" }],
		});
	});

	it("counts paused addresses, of which it names the first hundred", async () => {
		await env.DB.prepare(
			`INSERT INTO callback_health (publisher_id, failures_in_a_row, paused_at)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) SELECT 'many-' || i, 20, CAST(? AS BIGINT) FROM n`,
		)
			.bind(START + 1)
			.run();
		const { callbacks, problems } = await statusAt(START);
		expect(callbacks.paused).toHaveLength(100);
		const paused = problems.find(({ kind }) => kind === "callback_addresses_paused");
		expect(paused).toMatchObject({ count: 151, since: new Date(START).toISOString(), text: expect.stringMatching(/: sick, many-.*, …$/) });
		await env.DB.prepare("DELETE FROM callback_health WHERE publisher_id LIKE 'many-%'").run();
	});

	it("counts conversions that nobody is paid for yet and the words that no map knows, and dead letters that were not replayed", async () => {
		const status = await getStatus();
		expect(status.conversions).toEqual({
			waiting: 1,
			unmatched: 2,
			quarantined: 5,
			held_for: { no_rate: 2, amount: 2, review: 1, publisher_suspended: 0 },
			credited_without_rate: 1,
			unknown_status: {
				count: 3,
				words: [
					{ platform: "northwind", word: "{status}", count: 2, newest_at: "1970-01-01T00:00:09.000Z" },
					{ platform: "northwind", word: "x".repeat(100), count: 1, newest_at: "1970-01-01T00:00:07.000Z" },
				],
			},
		});
		expect(status.dead_letters).toEqual({ clicks: 1, postbacks: 2, callbacks: 0 });
	});

	it("counts the day's clicks by why they are not paid, and those that were not stored", async () => {
		expect((await statusAt(START)).clicks).toEqual({
			since: "2026-11-18T14:59:55.000Z",
			paid: 1,
			unpaid: [
				{ reason: "head", count: 2 },
				{ reason: "bot", count: 1 },
			],
			dropped: 42,
		});
	});

	it("lists what needs a person in order of urgency, with since when, what it keeps back, and what mends it", async () => {
		const { problems } = await statusAt(START + 7_200_000);
		const ranks = problems.map(({ kind }) => PROBLEM_KINDS.indexOf(kind));
		expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
		const told = new Map(problems.map(({ kind, count, text }) => [kind, `${count} ${text}`]));
		expect(told.get("dead_letters_clicks")).toBe("1 message of the queue clicks that no consumer could take");
		expect(told.get("dead_letters_postbacks")).toBe("2 messages of the queue postbacks that no consumer could take");
		expect(told.get("in_review")).toBe("1 conversion of a click that nobody saw: release it, or void it");
		expect(told.get("unmatched")).toBe("2 conversions for which no click was found: attach them");
		// So many conversions, of however many publishers.
		expect(told.get("credited_without_rate")).toMatch(/^1 conversion whose credit its publisher holds/);
		expect(problems.map(({ kind, count, since, cost, command }) => [kind, count, since, cost, command])).toEqual([
			["dead_letters_clicks", 1, "1970-01-01T00:00:00.000Z", null, "replay --queue clicks"],
			["dead_letters_postbacks", 2, "1970-01-01T00:00:00.000Z", null, "replay --queue postbacks"],
			["sums_differ", 2, "1970-01-01T00:00:00.000Z", null, "reconcile-sums --repair"],
			["credited_without_rate", 1, null, null, "conversions list --reason no_rate"],
			["no_rate", 2, "1970-01-01T00:00:00.000Z", "0.0000", "conversions list --reason no_rate"],
			["above_ceiling", 2, "1970-01-01T00:00:00.000Z", "0.0000", "conversions list --reason amount"],
			["in_review", 1, "1970-01-01T00:00:00.000Z", "0.0000", "conversions list --reason review"],
			["unmatched", 2, "1970-01-01T00:00:00.000Z", "12.3457", "conversions list --stage unmatched"],
			["waiting", 1, "1970-01-01T00:00:00.000Z", null, "conversions list --stage waiting"],
			["unknown_status", 3, "1970-01-01T00:00:07.000Z", null, "postback-problems list --from 1970-01-01T00:00:07.000Z"],
			[
				...["callbacks_exhausted", 1, "2026-11-18T15:00:01.000Z", expect.any(String)],
				"callbacks replay --state exhausted --from 2026-11-18T15:00:01.000Z",
			],
			["callback_addresses_paused", 1, "2026-11-18T15:00:00.000Z", expect.any(String), "callbacks test --publisher sick"],
			["claims_open", 2, "2026-11-18T15:00:00.000Z", null, "claims list --state open"],
			["campaigns_paused", 2, null, null, null],
		]);
	});

	it("names commands that reach what they are for, however old it is", async () => {
		const { problems } = await statusAt(START + 7_200_000);
		const commandOf = (of: string) => problems.find(({ kind }) => kind === of)?.command ?? "";
		const optionsOf = (command: string) => Object.fromEntries(command.matchAll(/--(\w+) (\S+)/g).map(([, name, value]) => [name, value]));
		const ask = async (path: string, init: RequestInit) => {
			const response = await exports.default.fetch(`https://base.example/operator/${path}`, { ...init, headers: OPERATOR_HEADERS });
			expect(response.status).toBe(200);
			return response.json();
		};
		const body = JSON.stringify({ ...optionsOf(commandOf("callbacks_exhausted")), dry_run: true });
		expect(await ask("callbacks/replay", { method: "POST", body })).toEqual({ replayed: 1, dry_run: true });
		const query = new URLSearchParams(optionsOf(commandOf("unknown_status")));
		const { data } = (await ask(`problems/postbacks?${query}`, {})) as { data: { field: string; count: number }[] };
		expect(data.filter(({ field }) => field === "status").map(({ count }) => count)).toEqual([2, 1]);
	});

	it("names a publisher so that its command can be pasted, whatever its id is", async () => {
		const pause = "INSERT INTO callback_health (publisher_id, failures_in_a_row, paused_at) VALUES (?, 20, 1)";
		await env.DB.prepare(pause).bind("Ben's; $(shop)").run();
		const { problems } = await statusAt(START);
		expect(problems.find(({ kind }) => kind === "callback_addresses_paused")?.command).toBe(
			String.raw`callbacks test --publisher 'Ben'\''s; $(shop)'`,
		);
		await env.DB.prepare("DELETE FROM callback_health WHERE paused_at = 1").run();
	});

	it("tells of nights that come to no end, and of campaigns that broke", async () => {
		const day = Math.floor(START / 86_400_000);
		const found = async (hours: number) =>
			(await statusAt(START + hours * 3_600_000)).problems
				.filter(({ kind }) => kind.startsWith("prices_"))
				.map(({ kind, count, since, command }) => [kind, count, since, command]);
		await env.DB.batch([
			env.DB.prepare(`UPDATE network_settings SET epc_learning = '{"mode":"advise"}'`),
			env.DB.prepare("INSERT INTO learning_nights (day, started_at, finished_at, progress) VALUES (?, ?, ?, '{}')").bind(day, START, START),
			...[-6, -2].map((age) =>
				env.DB.prepare("INSERT INTO learning_campaigns (campaign_id, day, last_break) VALUES (?, 0, ?)").bind(-age, `{"day":${day + age}}`),
			),
		]);
		const broke = (count: number, age: number) => [
			"prices_broke",
			count,
			new Date((day + age) * 86_400_000).toISOString(),
			"learning show",
		];
		expect(await found(2)).toEqual([broke(2, -6)]);
		const stale = [["prices_stale", 1, new Date(START).toISOString(), "learning show"], broke(1, -2)];
		expect(await found(37)).toEqual(stale);
		// A night that ended in time to come is none.
		await env.DB.prepare("INSERT INTO learning_nights (day, started_at, finished_at, progress) VALUES (?, 0, ?, '{}')")
			.bind(day + 200, START + 200 * 86_400_000)
			.run();
		expect(await found(37)).toEqual(stale);
		await env.DB.prepare("DELETE FROM learning_nights WHERE day > ?").bind(day).run();
		await env.DB.prepare(`UPDATE network_settings SET epc_learning = '{"mode":"off"}'`).run();
		expect(await found(37)).toEqual([broke(1, -2)]);
		await env.DB.prepare("INSERT INTO learning_nights (day, started_at, progress, fault) VALUES (?, 0, '{}', '{}')")
			.bind(day + 1)
			.run();
		// Left unfinished, and nobody asks for it any more.
		expect(await found(37)).toEqual([broke(1, -2)]);
		const setOwnMode = (learning: string | null) =>
			env.DB.prepare("UPDATE campaigns SET epc_learning = ? WHERE campaign_id = (SELECT min(campaign_id) FROM campaigns)")
				.bind(learning)
				.run();
		await setOwnMode('{"mode":"automatic"}');
		expect((await found(37))[0]?.[0]).toBe("prices_stale");
		await env.DB.prepare("DELETE FROM learning_nights WHERE finished_at IS NULL").run();
		// No night has begun since: one campaign that learns is enough to miss it.
		expect((await found(37))[0]?.[0]).toBe("prices_stale");
		const publishedAt = START + 3_600_000;
		await env.DB.prepare("INSERT INTO learning_work (name, value) VALUES ('publishing', ?)")
			.bind(JSON.stringify({ at: publishedAt }))
			.run();
		expect((await found(6))[0]?.[0]).toBe("prices_broke");
		const texts = (await statusAt(START + 8 * 3_600_000)).problems.filter(({ kind }) => kind === "prices_stale").map(({ text }) => text);
		// Where only nights fail, hours hold the guards.
		expect(texts).toEqual([
			expect.stringMatching(/^learned prices stay as they are: no night .*, or, and then guards stay, too, no hourly step/),
		]);
		expect((await found(8))[0]).toEqual(["prices_stale", 1, new Date(publishedAt).toISOString(), "learning show"]);
		await setOwnMode(null);
		await env.DB.prepare("DELETE FROM learning_work").run();
		await env.DB.batch(
			["DELETE FROM learning_nights", "DELETE FROM learning_campaigns", "UPDATE network_settings SET epc_learning = NULL"].map((text) =>
				env.DB.prepare(text),
			),
		);
	});

	it("tells of alerts that the webhook does not take, while they are tried", async () => {
		const found = async (at: number) =>
			(await statusAt(at)).problems.filter(({ kind }) => kind === "alerts_fail").map(({ count, since }) => [count, since]);
		const keep = (kind: string, tries: number, nextTryAt: number, body: string | null) =>
			env.DB.prepare(
				"INSERT INTO problem_alerts (kind, looks, standing, told, body, message_id, tries, next_try_at) VALUES (?, 0, 1, 0, ?, 'alert-1', ?, ?)",
			)
				.bind(kind, body, tries, nextTryAt)
				.run();
		const at = (time: number) => new Date(time).toISOString();
		await keep("waiting", 2, START + 60_000, JSON.stringify({ timestamp: at(START - 180_000) }));
		await keep("unmatched", 0, START, null);
		expect(await found(START)).toEqual([]);
		await keep("no_rate", 3, START + 60_000, JSON.stringify({ timestamp: at(START - 420_000) }));
		await keep("in_review", 9, START + 60_000, JSON.stringify({ timestamp: at(START - 900_000) }));
		expect(await found(START)).toEqual([[2, at(START - 900_000)]]);
		// The operator wants no alerts any more: nobody tries them.
		expect(await found(START + 7_200_000)).toEqual([]);
		await env.DB.prepare("DELETE FROM problem_alerts").run();
	});

	it("tells of postbacks that said no sale, until they are sent again in order, or a week has passed", async () => {
		const now = Date.now();
		const found = async (at: number) =>
			(await statusAt(at)).problems
				.filter(({ kind }) => kind === "postbacks_rejected")
				.map(({ count, since, command }) => [count, since, command]);
		const send = async (query: string) => {
			const response = await exports.default.fetch(`https://base.example/api/postback/${NORTHWIND.access_key}?${query}`);
			return response.text();
		};
		for (const txnid of ["lost-1", "lost-2"]) expect(await send(`txnid=${txnid}&cid=k&edate=2026-11-18&payout=x`)).toContain("payout");
		const since = expect.stringMatching(/^\d{4}-/);
		await vi.waitFor(async () => expect(await found(now)).toEqual([[2, since, "postback-problems"]]), 10_000);
		expect(await found(now + 8 * 86_400_000)).toEqual([]);
		expect(await send("txnid=lost-1&cid=k&edate=2026-11-18&payout=1.00")).toContain("successfully");
		await vi.waitFor(async () => expect(await found(now)).toEqual([[1, since, "postback-problems"]]), 10_000);
		await env.DB.prepare("DELETE FROM postback_intake").run();
	});

	it("names counters that differ from their rows", async () => {
		expect((await getStatus()).sums).toEqual({
			compared_at: "2026-11-18T15:00:00.000Z",
			difference_count: 2,
			differences: [
				{
					...{ counter: "daily_sources", day: "2026-11-18", publisher: "acme", source: "s", campaign_id: null, brand: null },
					...{ column: "gross", stored: "1.0000", counted: "1.5000" },
				},
				{
					...{ counter: "campaign_totals", day: null, publisher: null, source: null, campaign_id: 5, brand: null },
					...{ column: "click_count", stored: 3, counted: 2 },
				},
			],
		});
	});

	it("counts closed days without a digest, and those whose digest is of before a change", async () => {
		await env.DB.batch([
			env.DB.prepare("UPDATE day_digest_state SET selected_at = ?").bind(START),
			env.DB.prepare(
				`INSERT INTO day_digests (publisher_id, day, digest, due) VALUES
					('acme', '2026-11-18', NULL, 1), ('acme', '2026-11-17', NULL, 1), ('acme', '2026-11-16', 'd', 1), ('acme', '2026-11-15', 'd', 0)`,
			),
		]);
		expect((await statusAt(START)).days).toEqual({
			selected_at: new Date(START).toISOString(),
			without_digest: 2,
			to_renew: 1,
			oldest: "2026-11-16",
		});
	});

	it("a queue that tells nothing is null, and keeps no other figure back", async () => {
		const broken = { metrics: () => Promise.reject(new Error("not here")) };
		const hanging = { metrics: () => new Promise<never>(() => {}) };
		const status = await readStatus({
			db: openDatabase(env.DB),
			products: openDatabase(env.PRODUCTS),
			kv: env.BOOK,
			queues: { clicks: broken, postbacks: hanging, callbacks: undefined },
			now: () => START,
		});
		expect(status.queues).toEqual({ clicks: null, postbacks: null, callbacks: null });
		expect(status.conversions.unmatched).toBe(2);
	});

	it("says of each stage since when it waits, however many wait in another", async () => {
		await env.DB.prepare(
			`INSERT INTO conversions (platform, txnid, cid, stage, held_for, status, status_unknown, test, event_at, payout_micros, currency, event_count,
				first_received_at, updated_at, version)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
			SELECT 'northwind', 'many-' || i, 'c', 'quarantined', 'no_rate', 'approved', 0, 0, 0, 0, 'USD', 1, 0, 0, 1 FROM n`,
		).run();
		const { problems } = await statusAt(START);
		const since = Object.fromEntries(problems.map((problem) => [problem.kind, problem.since]));
		expect([since.no_rate, since.unmatched, since.waiting]).toEqual(Array(3).fill("1970-01-01T00:00:00.000Z"));
		await env.DB.prepare("DELETE FROM conversions WHERE txnid LIKE 'many-%'").run();
	});

	it("finds what needs somebody among however much that is cancelled, or held for another reason", async () => {
		const addMany = (prefix: string, stage: string, heldFor: string | null, status: string) =>
			env.DB.prepare(
				`INSERT INTO conversions (platform, txnid, cid, stage, held_for, status, status_unknown, test, event_at, payout_micros, currency,
					event_count, first_received_at, updated_at, version)
				WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
				SELECT 'northwind', '${prefix}' || i, 'c', ?, ?, ?, 0, 0, 0, 1000000, 'USD', 1, -1, 0, 1 FROM n`,
			)
				.bind(stage, heldFor, status)
				.run();
		const found = async () => {
			const { conversions, problems } = await statusAt(START);
			const { unmatched, quarantined, held_for } = conversions;
			return [
				...[unmatched, quarantined, held_for.amount],
				...problems
					.filter(({ kind }) => ["above_ceiling", "in_review", "unmatched"].includes(kind))
					.map(({ since, cost }) => [since, cost]),
			];
		};
		const before = await found();
		expect(before.slice(0, 3)).toEqual([2, 5, 2]);
		await addMany("many-u", "unmatched", null, "cancelled");
		await addMany("many-a", "quarantined", "amount", "cancelled");
		expect(await found()).toEqual(before);
		await addMany("many-n", "quarantined", "no_rate", "approved");
		expect((await found()).slice(3)).toEqual(before.slice(3));
		await env.DB.prepare("DELETE FROM conversions WHERE txnid LIKE 'many-%'").run();
	});

	it.runIf(ON_D1)("looks into indexes only, however large the ledger is", async () => {
		const queries = [
			figuresQuery(START),
			unknownStatusesQuery(),
			...problemQueries(START),
			grantedAmountsQuery(START),
			...trafficQueries(START),
			...daysQueries(),
		];
		const looks = (await Promise.all(queries.map(planOf)))
			.flat()
			.filter((detail) => /^(SCAN|SEARCH) (?!\(subquery|CONSTANT|newest|waiting|w\b|q\b)/.test(detail));
		expect(looks.length).toBeGreaterThan(8);
		// SQLite makes an automatic index of a whole table, each time. States are one row; alerts one a kind; nights, differences and pauses are few, and looked at up to a limit.
		const small =
			/^(?:SCAN (?:book_dirty_slots|sum_differences|campaign_pauses|learning_nights|problem_alerts)|SEARCH (?:book_state|day_digest_state|network_settings|learning_nights) USING INTEGER PRIMARY KEY|SEARCH (?:clicks|e) USING PRIMARY KEY)/;
		expect(looks.filter((detail) => (!detail.includes("INDEX") || detail.includes("AUTOMATIC")) && !small.test(detail))).toEqual([]);
	});
});
