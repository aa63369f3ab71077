/** What has stopped is not paid from then on, and what was clicked before is, whichever of redirect and consumer hears of it first. */
import { createExecutionContext, createMessageBatch } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "../../src/clicks/consumer/kept-facts.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { MINUTE_MS, SECOND_MS } from "../../src/lib/time.ts";
import worker from "../../src/worker.ts";
import { CLICKED_AT, capDeps, checkCounters, clickMessage, letters, rowsOf } from "../support/click-messages.ts";
import { importUnpublished, OPERATOR_HEADERS } from "../support/network-import.ts";
import { forgetStops, frozenRedirect, importStopped, STOPPED, type Stopped } from "../support/stops.ts";

const NONE: ReadonlySet<Stopped> = new Set();
const STOPPED_AT = CLICKED_AT + 10 * MINUTE_MS;

/** The consumer hears of it by the database. */
const stop = (...stopped: Stopped[]) => importStopped(new Set(stopped), null, importUnpublished);
const stopPublished = (...stopped: Stopped[]) => importStopped(new Set(stopped));

/** Reasons and flags in the order in which the clicks were made. */
async function verdicts(): Promise<(string | null)[]> {
	const rows = await rowsOf<{ reason: string | null; flags: string | null }>("SELECT reason, flags FROM clicks ORDER BY clicked_at, id");
	return rows.map(({ reason, flags }) => (flags === null ? reason : `${reason ?? "paid"}, ${flags}`));
}

beforeEach(async () => {
	vi.useFakeTimers({ toFake: ["Date"], now: CLICKED_AT });
	await importStopped(NONE, null, importUnpublished);
	await forgetStops();
});

afterEach(() => {
	vi.useRealTimers();
});

describe("worker: the consumer asks again what has stopped", () => {
	it.each(STOPPED)("%s: paid before, though its message comes later; not paid from then on", async (stopped, reason) => {
		const clicks = [STOPPED_AT - 1, STOPPED_AT, STOPPED_AT + MINUTE_MS].map((at) => clickMessage({ at }));
		// What else there is, is not touched by it; last, by its time, in the order of the verdicts.
		const others = [
			clickMessage({ at: STOPPED_AT + 2 * MINUTE_MS, campaignId: 5002, brandId: 2 }),
			...(stopped === "publisher suspended"
				? []
				: [clickMessage({ at: STOPPED_AT + 3 * MINUTE_MS, publisher: "other_rtb", campaignId: 5002, brandId: 2 })]),
		];
		vi.setSystemTime(STOPPED_AT);
		await stop(stopped);
		await consumeClicks(capDeps(), letters(...clicks, ...others));
		const ofOthers = stopped === "publisher suspended" ? [reason] : [null, null];
		expect(await verdicts()).toEqual([null, reason, reason, ...ofOthers]);
		await checkCounters();
	});

	it.each(STOPPED)("%s: by the mode of the policy", async (stopped, reason) => {
		const clicks = (name: string) => clickMessage({ id: name, at: STOPPED_AT });
		for (const mode of ["flag", "off"]) {
			vi.setSystemTime(STOPPED_AT);
			await importStopped(new Set([stopped]), { [reason]: mode }, importUnpublished);
			await consumeClicks(capDeps(), letters(clicks(`click-${mode}`)));
		}
		expect(await verdicts()).toEqual([`paid, ${reason}`, null]);
	});

	it("a brand that stopped stays so for clicks of a campaign that was removed later", async () => {
		vi.setSystemTime(STOPPED_AT);
		await stop("brand inactive");
		vi.setSystemTime(STOPPED_AT + MINUTE_MS);
		await stop("brand inactive", "campaign removed");
		await consumeClicks(capDeps(), letters(clickMessage({ at: STOPPED_AT - 1 }), clickMessage({ at: STOPPED_AT })));
		expect(await verdicts()).toEqual([null, "brand_stopped"]);
	});

	it("a rule that flags is noted once, though redirect and consumer find it", async () => {
		vi.setSystemTime(STOPPED_AT);
		await importStopped(new Set<Stopped>(["brand blocked"]), { blocked: "flag" }, importUnpublished);
		await consumeClicks(capDeps(), letters(clickMessage({ at: STOPPED_AT, flags: ["blocked"] })));
		expect(await verdicts()).toEqual(["paid, blocked"]);
	});

	it("what is imported again holds since it first did; what is active again no longer holds", async () => {
		for (const at of [STOPPED_AT, STOPPED_AT + MINUTE_MS]) {
			vi.setSystemTime(at);
			await stop("campaign inactive", "brand blocked");
		}
		expect(await rowsOf("SELECT subject, domain, since FROM stops ORDER BY subject")).toEqual([
			{ subject: "campaign 5001", domain: "", since: STOPPED_AT },
			{ subject: "publisher acme", domain: "shoes.example", since: STOPPED_AT },
		]);
		await importStopped(NONE, null, importUnpublished);
		expect(await rowsOf("SELECT * FROM stops")).toEqual([]);
		await stop("campaign removed");
		await importStopped(NONE, null, importUnpublished);
		expect(await rowsOf("SELECT * FROM stops")).toEqual([]);
	});

	it("an import that leaves out a section or a brand leaves their stops; one that says nothing of a status leaves it", async () => {
		await stop("campaign inactive", "brand inactive", "publisher suspended");
		const before = await rowsOf("SELECT * FROM stops ORDER BY subject");
		expect(before).toHaveLength(3);
		vi.setSystemTime(STOPPED_AT);
		await importUnpublished({ exchange_rates: [] });
		await importUnpublished({ publishers: [{ id: "acme", name: "Acme", revenue_share: 0.5, pricing_model: "CPC" }] });
		expect(await rowsOf("SELECT * FROM stops ORDER BY subject")).toEqual(before);
	});

	it("a block that is widened or narrowed holds since its first form did, where both hold", async () => {
		const block = async (at: number, ...blocks: object[]) => {
			vi.setSystemTime(at);
			const [acme] = await rowsOf<{ name: string }>("SELECT name FROM publishers WHERE id = 'acme'");
			await importUnpublished({ publishers: [{ id: "acme", ...acme, revenue_share: 0.5, pricing_model: "CPC", blocked_brands: blocks }] });
		};
		const [domain, first, second] = ["shoes.example", STOPPED_AT, STOPPED_AT + MINUTE_MS];
		const sinces = () => rowsOf("SELECT country, since FROM stops ORDER BY country");
		await block(first, { domain, country: "US" });
		await block(second, { domain });
		expect(await sinces()).toEqual([
			{ country: "", since: second },
			{ country: "US", since: first },
		]);
		await block(first);
		await block(first, { domain });
		await block(second, { domain, country: "US" });
		expect(await sinces()).toEqual([{ country: "US", since: first }]);
	});

	it("a country is the campaign's, whatever the link says", async () => {
		vi.setSystemTime(STOPPED_AT);
		await stop("country blocked");
		const clicks = [
			clickMessage({ at: STOPPED_AT, country: "DE", campaignCountry: "US" }),
			clickMessage({ at: STOPPED_AT + 1, campaignId: 5003, country: "US", campaignCountry: "DE" }),
		];
		await consumeClicks(capDeps(), letters(...clicks));
		expect(await verdicts()).toEqual(["blocked", null]);
	});

	it("a batch that was read before an import is decided again", async () => {
		const version = async () => (await rowsOf<{ version: number }>("SELECT version FROM click_sequence"))[0]?.version ?? 0;
		const before = await version();
		await stop("brand inactive");
		expect(await version()).toBeGreaterThan(before);
	});
});

describe("worker: dead letters and redeliveries", () => {
	it("come to the same, however late", async () => {
		const [early, late] = [clickMessage({ at: STOPPED_AT - 1 }), clickMessage({ at: STOPPED_AT })];
		const dead = [early, late].map((body) => ({ id: crypto.randomUUID(), timestamp: new Date(), attempts: 11, body }));
		await worker.queue(createMessageBatch("clickbourse-clicks-dead", dead), env, createExecutionContext());
		vi.setSystemTime(STOPPED_AT);
		await stopPublished("campaign removed");
		vi.setSystemTime(STOPPED_AT + 60 * MINUTE_MS);
		await exports.default.fetch("http://origin.example/operator/replay", { method: "POST", headers: OPERATOR_HEADERS, body: "{}" });
		await vi.waitFor(async () => expect(await verdicts()).toEqual([null, "campaign_stopped"]), { timeout: 10_000, interval: 100 });
		await consumeClicks(capDeps(), letters(late, early));
		expect(await verdicts()).toEqual([null, "campaign_stopped"]);
	});
});

describe("worker: redirect and consumer agree", () => {
	const step = fc.record({
		stops: fc.uniqueArray(fc.constantFrom(...STOPPED.map(([stopped]) => stopped)), { maxLength: 2 }),
		/** Clicks after it; `isFresh`: the redirect has read the book since. */
		clicks: fc.array(
			fc.record({
				publisher: fc.constantFrom("acme_rtb", "acme_rtb", "other_rtb"),
				campaignId: fc.constantFrom(5001, 5001, 5002, 5003),
				isFresh: fc.boolean(),
				/** How many times its message comes before the next import; in the end it comes to all once more. */
				deliveries: fc.nat({ max: 2 }),
			}),
			{ minLength: 1, maxLength: 5 },
		),
	});

	/** What holds of a click on a bid of `asked`, from the times of the stops alone; the first in the order of the list of reasons. */
	function expected({ publisher, campaignId, at }: ClickMessage, asked: number, stoppedAt: ReadonlyMap<Stopped, number>): string | null {
		const holds = (stopped: Stopped) => (stoppedAt.get(stopped) ?? Number.POSITIVE_INFINITY) <= at;
		const isAcme = publisher === "acme_rtb";
		const isShoes = campaignId !== 5002;
		const isUs = campaignId !== 5003;
		if (isAcme && holds("publisher suspended")) return "publisher_suspended";
		// Where the campaign is gone, another one of the brand leads on.
		if (campaignId !== asked) return "campaign_stopped";
		if (campaignId === 5001 && (holds("campaign inactive") || holds("campaign removed"))) return "campaign_stopped";
		if (isShoes && holds("brand inactive")) return "brand_stopped";
		if (isShoes && isUs && holds("country blocked")) return "blocked";
		if (isShoes && isAcme && (holds("brand blocked") || (isUs && holds("brand blocked in the country")))) return "blocked";
		return null;
	}

	it("property: a click before a stop is paid, one after it is not, whichever knows first", async () => {
		const ids = await rowsOf<{ id: number; domain: string }>("SELECT id, domain FROM brands");
		const brandOf = (campaignId: number) => (campaignId === 5002 ? "boots.example" : "shoes.example");
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), fc.boolean(), async (steps, keepsFacts) => {
				vi.setSystemTime(CLICKED_AT);
				await importStopped(NONE);
				await forgetStops();
				const deps = { ...capDeps(() => Date.now()), ...(keepsFacts && { facts: new KeptFacts() }) };
				const stale = frozenRedirect();
				const stoppedAt = new Map<Stopped, number>();
				const messages: { message: ClickMessage; asked: number }[] = [];
				for (const [number, { stops, clicks }] of [{ stops: [], clicks: steps[0]?.clicks ?? [] }, ...steps].entries()) {
					vi.setSystemTime(CLICKED_AT + number * 100 * SECOND_MS);
					for (const stopped of stops) if (!stoppedAt.has(stopped)) stoppedAt.set(stopped, Date.now());
					if (stops.length > 0) await stopPublished(...stoppedAt.keys());
					const fresh = frozenRedirect();
					const batches: [ClickMessage[], ClickMessage[]] = [[], []];
					for (const [at, { publisher, campaignId, isFresh, deliveries }] of clicks.entries()) {
						vi.setSystemTime(CLICKED_AT + (number * 100 + at) * SECOND_MS);
						const domain = brandOf(campaignId);
						const advertiserId = ids.find((brand) => brand.domain === domain)?.id ?? 0;
						const message = await (isFresh || number === 0 ? fresh : stale).click({ publisher, campaignId, advertiserId, domain });
						// The redirect that has read the book knows it all.
						if (isFresh && message !== null) expect(message.reason ?? null).toBe(expected(message, campaignId, stoppedAt));
						if (message === null) continue;
						messages.push({ message, asked: campaignId });
						for (let times = 0; times < deliveries; times++) batches[times]?.push(message);
					}
					for (const batch of batches) if (batch.length > 0) await consumeClicks(deps, letters(...batch));
					if (number === 0) await stale.click({ publisher: "acme_rtb", campaignId: 5001, advertiserId: 1, domain: "shoes.example" });
				}
				await consumeClicks(deps, letters(...messages.map(({ message }) => message).toReversed()));
				const rows = await rowsOf<{ id: string; reason: string | null }>("SELECT id, reason FROM clicks");
				const found = Object.fromEntries(rows.map(({ id, reason }) => [id, reason]));
				expect(found).toEqual(Object.fromEntries(messages.map(({ message, asked }) => [message.id, expected(message, asked, stoppedAt)])));
				await checkCounters();
			}),
			{ numRuns: Number(env.PROPERTY_RUNS || 16) },
		);
	}, 120_000);
});
