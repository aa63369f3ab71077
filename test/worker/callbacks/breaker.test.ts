/** A receiver that is down: its address is paused, nothing is dropped, a probe brings everything back, and the sweep repeats nothing. */

import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { FAILURES_TO_PAUSE } from "../../../src/callbacks/breaker.ts";
import { chooseProbe, chooseReleased } from "../../../src/callbacks/release-paused.ts";
import { chooseDue } from "../../../src/callbacks/sweep-callbacks.ts";
import { Outbox, START } from "../../support/callback-outbox.ts";
import { received, receivedCalls, receiverUrl, setStatus } from "../../support/callback-receiver.ts";
import { ON_D1 } from "../../support/engine.ts";
import { planOf } from "../../support/plan-of.ts";

type Health = { failures_in_a_row: number; paused_at: number | null; next_probe_at: number | null; releasing: number };

const health = (publisher: string) =>
	env.DB.prepare("SELECT * FROM callback_health WHERE publisher_id = ?").bind(publisher).first<Health>();

/** A publisher whose address has just been paused, by as many callbacks as it takes. */
async function pausedOutbox(name: string): Promise<{ outbox: Outbox; ids: string[] }> {
	await setStatus(name, 503);
	const outbox = new Outbox();
	await outbox.addPublisher(name, receiverUrl("answer", name));
	const ids = await outbox.addMany(name, FAILURES_TO_PAUSE);
	await outbox.work();
	return { outbox, ids };
}

/** Its receiver refuses callbacks by transaction, or all by `*`, as it does at first. */
function refusingOutbox(): { outbox: Outbox; refuses: Set<string> } {
	const refuses = new Set(["*"]);
	const fetch = async (url: string) => {
		const isRefused = refuses.has("*") || refuses.has(new URL(url).searchParams.get("txnid") ?? "");
		return new Response("", { status: isRefused ? 400 : 200 });
	};
	return { outbox: new Outbox({ fetch }), refuses };
}

// A sweep takes whatever is due: no test may find what another one left.
beforeEach(async () => {
	await env.DB.batch([env.DB.prepare("DELETE FROM callbacks"), env.DB.prepare("DELETE FROM callback_health")]);
});

describe("worker: a receiver that is down for an hour", () => {
	it("loses nothing and gets each callback once, each credit before its cancellation", async () => {
		const name = "hour";
		await setStatus(name, 500);
		const outbox = new Outbox({ chance: Math.random });
		await outbox.addPublisher(name, receiverUrl("answer", name));
		const expected: string[] = [];
		for (let minute = 0; minute < 60; minute++) {
			await outbox.add(name, `T${minute}`, 1);
			expected.push(`T${minute} approved`);
			if (minute % 3 === 0) {
				await outbox.add(name, `T${minute}`, 2);
				expected.push(`T${minute} cancelled`);
			}
			await outbox.pass(1);
		}
		const refused = (await receivedCalls(name)).length;
		expect(await health(name)).toMatchObject({ paused_at: expect.any(Number) });
		await setStatus(name, 200);
		await outbox.pass(60);
		const accepted = (await received(name)).slice(refused);
		expect([...accepted].sort()).toEqual(expected.sort());
		for (const call of accepted.filter((text) => text.endsWith("cancelled"))) {
			expect(accepted.indexOf(call)).toBeGreaterThan(accepted.indexOf(call.replace("cancelled", "approved")));
		}
		expect(await health(name)).toMatchObject({ failures_in_a_row: 0, paused_at: null, releasing: 0 });
	}, 120_000);
});

describe("worker: the circuit breaker", () => {
	it(`pauses an address at the ${FAILURES_TO_PAUSE}th failure in a row, and a success in between starts the count afresh`, async () => {
		const name = "count";
		await setStatus(name, 500);
		const outbox = new Outbox();
		await outbox.addPublisher(name, receiverUrl("answer", name));
		for (let at = 1; at < FAILURES_TO_PAUSE; at++) await outbox.add(name, `T${at}`);
		await outbox.work();
		expect(await health(name)).toMatchObject({ failures_in_a_row: FAILURES_TO_PAUSE - 1, paused_at: null });
		await setStatus(name, 200);
		await outbox.add(name, "success");
		await outbox.work();
		expect(await health(name)).toMatchObject({ failures_in_a_row: 0, paused_at: null });
		await setStatus(name, 500);
		for (let at = 0; at < FAILURES_TO_PAUSE; at++) await outbox.add(name, `U${at}`);
		await outbox.work();
		expect(await health(name)).toMatchObject({ paused_at: START, next_probe_at: START + 300_000 });
	});

	it("while it lasts, callbacks are put aside without a call, and use up nothing of their schedule", async () => {
		const { outbox, ids } = await pausedOutbox("aside");
		const more = await outbox.add("aside", "later");
		await outbox.work();
		await outbox.pass(4);
		expect(await receivedCalls("aside")).toHaveLength(FAILURES_TO_PAUSE);
		for (const row of await outbox.rows([...ids, more]))
			expect(row).toMatchObject({ state: "due", held_for: "pause", next_attempt_at: null });
		expect(await outbox.row(more)).toMatchObject({ attempt_count: 0, schedule_step: 0 });
	});

	it("one probe goes out every five minutes, and uses up nothing of the schedule either", async () => {
		const { outbox } = await pausedOutbox("probe");
		await outbox.pass(60);
		expect((await receivedCalls("probe")).length - FAILURES_TO_PAUSE).toBe(12);
		const { results } = await env.DB.prepare(
			"SELECT DISTINCT schedule_step, state, held_for FROM callbacks WHERE publisher_id = 'probe'",
		).all();
		expect(results).toEqual([{ schedule_step: 1, state: "due", held_for: "pause" }]);
	}, 120_000);

	it("one callback that a healthy receiver refuses keeps no address paused, and is exhausted as ever", async () => {
		const { outbox, refuses } = refusingOutbox();
		await outbox.addPublisher("picky", "http://picky.example/s2s");
		const ids = await outbox.addMany("picky", FAILURES_TO_PAUSE);
		await outbox.work();
		expect(await health("picky")).toMatchObject({ paused_at: START });
		const [refused = "", ...others] = ids;
		refuses.delete("*");
		refuses.add("T0");
		await outbox.pass(11);
		expect(await health("picky")).toMatchObject({ paused_at: null, releasing: 0 });
		for (const row of await outbox.rows(others)) expect(row).toMatchObject({ state: "delivered" });
		for (let due: number | null = 0; due !== null; due = (await outbox.row(refused)).next_attempt_at) {
			outbox.now = Math.max(outbox.now, due);
			await outbox.sweep();
			await outbox.work();
		}
		expect(await outbox.row(refused)).toMatchObject({ state: "exhausted", attempt_count: 9 });
	});

	it("each probe is another's, so that the only one that is taken ends the pause", async () => {
		const { outbox, refuses } = refusingOutbox();
		await outbox.addPublisher("one-of", "http://one-of.example/s2s");
		const ids: string[] = [];
		for (let at = 0; at < FAILURES_TO_PAUSE; at++) ids.push(await outbox.add("one-of", `T${at}`));
		await outbox.work();
		refuses.delete("*");
		for (let at = 0; at < FAILURES_TO_PAUSE; at++) if (at !== 7) refuses.add(`T${at}`);
		await outbox.pass(6 * FAILURES_TO_PAUSE);
		expect(await outbox.row(ids[7] ?? "")).toMatchObject({ state: "delivered" });
	});

	it("however many it refuses, one that came since is tried next, and ends the pause", async () => {
		const { outbox, refuses } = refusingOutbox();
		await outbox.addPublisher("no-cancellations", "http://no-cancellations.example/s2s");
		for (let at = 0; at < 60; at++) {
			refuses.add(`T${at}`);
			await outbox.add("no-cancellations", `T${at}`, 1, "cancelled");
		}
		await outbox.work();
		refuses.delete("*");
		outbox.now += 1_000;
		const fresh = await outbox.add("no-cancellations", "fresh");
		await outbox.pass(6);
		expect(await outbox.row(fresh)).toMatchObject({ state: "delivered" });
	});

	it("it does not outlast the address: a changed one is called at once", async () => {
		const { outbox, ids } = await pausedOutbox("moved");
		await outbox.pass(2);
		await outbox.addPublisher("moved", receiverUrl("answer", "moved-to"));
		const fresh = await outbox.add("moved", "fresh");
		await outbox.work();
		expect(await outbox.row(fresh)).toMatchObject({ state: "delivered" });
		await outbox.pass(2);
		for (const row of await outbox.rows(ids)) expect(row).toMatchObject({ state: "delivered" });
		expect(await received("moved-to")).toHaveLength(FAILURES_TO_PAUSE + 1);
	});

	it("it does not hold a probe whose address has changed during the call: like all others it goes to the new one", async () => {
		await setStatus("probed", 503);
		let whileCalling: (() => Promise<void>) | null = null;
		const outbox = new Outbox({
			fetch: async (url, init) => {
				const meanwhile = whileCalling;
				whileCalling = null;
				await meanwhile?.();
				return fetch(url, init);
			},
		});
		await outbox.addPublisher("probed", receiverUrl("answer", "probed"));
		await outbox.addMany("probed", FAILURES_TO_PAUSE);
		await outbox.work();
		outbox.now += 5 * 60_000;
		await outbox.sweep();
		// Before the old address answers, another one is imported, and the cron has released what was held.
		whileCalling = async () => {
			await outbox.addPublisher("probed", receiverUrl("answer", "probed-to"));
			await outbox.sweep();
		};
		await outbox.work();
		await outbox.pass(2);
		const { results } = await env.DB.prepare("SELECT DISTINCT state, held_for FROM callbacks").all();
		expect(results).toEqual([{ state: "delivered", held_for: null }]);
		expect(await receivedCalls("probed-to")).toHaveLength(FAILURES_TO_PAUSE);
	});

	it("what the old address confirms once another is imported, and paused, does not end that pause", async () => {
		let whileCalling: (() => Promise<void>) | null = null;
		const outbox = new Outbox({
			fetch: async (url) => {
				const meanwhile = whileCalling;
				whileCalling = null;
				await meanwhile?.();
				return new Response("", { status: url.startsWith("http://old.example/") ? 200 : 503 });
			},
		});
		await outbox.addPublisher("confirmed", "http://old.example/s2s");
		const slow = await outbox.add("confirmed", "slow");
		whileCalling = async () => {
			await outbox.addPublisher("confirmed", "http://new.example/s2s");
			await outbox.addMany("confirmed", FAILURES_TO_PAUSE);
			await outbox.work();
		};
		await outbox.work();
		expect(await outbox.row(slow)).toMatchObject({ state: "delivered" });
		expect(await health("confirmed")).toMatchObject({ failures_in_a_row: FAILURES_TO_PAUSE, paused_at: START });
	});

	it("nor does what the old address refuses", async () => {
		let whileCalling: (() => Promise<void>) | null = null;
		const outbox = new Outbox({
			fetch: async () => {
				const meanwhile = whileCalling;
				whileCalling = null;
				await meanwhile?.();
				return new Response("", { status: 503 });
			},
		});
		await outbox.addPublisher("refused", "http://old.example/s2s");
		await outbox.add("refused", "slow");
		whileCalling = async () => {
			await outbox.addPublisher("refused", "http://new.example/s2s");
			await outbox.addMany("refused", FAILURES_TO_PAUSE);
			await outbox.work();
		};
		await outbox.work();
		expect(await health("refused")).toMatchObject({
			url: "http://new.example/s2s",
			failures_in_a_row: FAILURES_TO_PAUSE,
			paused_at: START,
			releasing: 0,
		});
	});

	it("it stops other publishers' callbacks in nothing", async () => {
		const { outbox } = await pausedOutbox("sick");
		await outbox.addPublisher("well", receiverUrl("answer", "well"));
		const id = await outbox.add("well", "T1");
		await outbox.work();
		expect(await outbox.row(id)).toMatchObject({ state: "delivered" });
	});
});

describe("worker: the sweep", () => {
	it("brings what no queue carries, once", async () => {
		const outbox = new Outbox();
		await outbox.addPublisher("lost", receiverUrl("answer", "lost"));
		const ids = [await outbox.add("lost", "T1", 1, "approved", false), await outbox.add("lost", "T2", 1, "approved", false)];
		await outbox.sweep();
		await outbox.sweep();
		expect(outbox.sent.map(({ id }) => id).sort()).toEqual(ids.sort());
		// The queue lost them as well: they are put on it again, later.
		outbox.sent = [];
		outbox.now += 10 * 60_000;
		await outbox.sweep();
		await outbox.work();
		expect(await receivedCalls("lost")).toHaveLength(2);
		await outbox.pass(20);
		expect(await receivedCalls("lost")).toHaveLength(2);
	});

	it("leaves alone what is not due", async () => {
		await setStatus("not-due", 500);
		const outbox = new Outbox();
		await outbox.addPublisher("not-due", receiverUrl("answer", "not-due"));
		await outbox.add("not-due", "T1");
		await outbox.work();
		outbox.sent = [];
		outbox.now += 4_000;
		await outbox.sweep();
		expect(outbox.sent).toEqual([]);
	});

	it.runIf(ON_D1)("finds what is due by an index, not by looking through the outbox", async () => {
		const steps = await planOf(chooseDue(START, ["p"], 10));
		expect(steps[0]).toContain("USING INDEX callbacks_sweep");
		expect(steps.join()).not.toMatch(/SCAN callbacks(?! USING INDEX callbacks_sweep)|TEMP B-TREE/);
	});

	it.runIf(ON_D1).each([chooseProbe, chooseReleased])("looks at no callback that is not held (%s)", async (choose) => {
		const searched = (await planOf(choose("p"))).filter((step) => step.includes("callbacks"));
		expect(new Set(searched)).toEqual(new Set(["SEARCH callbacks USING INDEX callbacks_paused (publisher_id=?)"]));
	});
});
