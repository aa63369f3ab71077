/**
 * Random histories of clicks, postbacks, corrections, refunds, platforms' statements, adjustments and their undoing, deliveries, crashes,
 * revaluations, erasures, removals by age and imports that change terms, meanings, ceilings and rates in their midst, given to the real
 * consumers, adjustments, import and sweep on real D1, and to a reference model: the ledger, the daily sums, the outbox, the history and
 * what publishers follow must be the same, nothing of an erased user may be left, and what is learned is what a rebuild makes.
 * PROPERTY_RUNS=5000 runs more of them.
 */
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import * as v from "valibot";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { adjust, previewAdjustment } from "../../../src/adjustments/adjust.ts";
import type { AdjustmentRequest } from "../../../src/adjustments/adjustment-request.ts";
import { attach } from "../../../src/adjustments/attach.ts";
import type { AdjustmentDeps } from "../../../src/adjustments/deps.ts";
import { previewRevalue, revalue } from "../../../src/adjustments/revalue.ts";
import type { ConversionChange } from "../../../src/changes/conversion-changes-answer.ts";
import { conversionChangesQuery } from "../../../src/changes/feed-cursor.ts";
import { readConversionChanges } from "../../../src/changes/read-conversion-changes.ts";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { consumePostbacks } from "../../../src/conversions/consume-postbacks.ts";
import { STATEMENT } from "../../../src/conversions/message.ts";
import { pickValues, splitFields } from "../../../src/conversions/read-fields.ts";
import { readPostback } from "../../../src/conversions/read-postback.ts";
import { sweepConversions } from "../../../src/conversions/sweep-conversions.ts";
import { openDatabase } from "../../../src/db/client.ts";
import type { Actor } from "../../../src/http/actor.ts";
import { KeyOwners } from "../../../src/keys/key-owners.ts";
import { weekOf } from "../../../src/learning/fold.ts";
import { rebuildWeek } from "../../../src/learning-rows/rebuild.ts";
import { checkLedger } from "../../../src/ledger-check/check-ledger.ts";
import { HttpError } from "../../../src/lib/http.ts";
import { formatUsd, parseMicros } from "../../../src/lib/money.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { erase } from "../../../src/operator/erase/erase.ts";
import { readPosition } from "../../../src/operator/erase/erase-request.ts";
import { importNetwork } from "../../../src/operator/network/import-network.ts";
import { removeOld } from "../../../src/retention/remove-old.ts";
import { ACTOR } from "../../support/actor.ts";
import { adjustingOn } from "../../support/adjusting.ts";
import { FeedClient } from "../../support/changes.ts";
import {
	CLICKS,
	FAILED_ONCE,
	HELD_AND_REVALUED,
	history,
	RELEASED_WITHOUT_CLICK,
	type SentPostback,
	START,
	STATEMENT_REPEATED,
	type Step,
} from "../../support/conversion-histories.ts";
import {
	clickRow,
	importConversionNetwork,
	platformEntry,
	postbackMessage,
	publisherEntry,
	storeClicks,
} from "../../support/conversions.ts";
import { ON_D1 } from "../../support/engine.ts";
import { forgetTraffic } from "../../support/forget-traffic.ts";
import { keepRows } from "../../support/kept-rows.ts";
import { PLAIN_IMPORT } from "../../support/network-import.ts";
import { reconcileDay } from "../../support/reconcile-day.ts";
import { byText, type ModelClick, type ModelPostback, ReferenceLedger, UNKNOWN_HASH } from "../../support/reference-ledger.ts";

const RUNS = Number(env.PROPERTY_RUNS || 80);
const MINUTE = 60_000;
/** How a history begins. */
const PUBLISHERS = {
	cpa: { share: 800_000n, model: "CPA", url: true, amendments: "pair" },
	quiet: { share: 333_333n, model: "CPA", url: false, amendments: "none" },
	cpc: { share: 800_000n, model: "CPC", url: true, amendments: "pair" },
} as const;
const PLATFORMS = {
	west: { currency: "USD", negative: "cancel", words: {}, max: null },
	east: { currency: "EUR", negative: "adjust", words: {}, max: 40_000_000 },
} as const;
/** What imports change. */
const SETTINGS = ["publishers", "platforms"];
const CAMPAIGNS: Record<string, number> = { west: 11, east: 12 };
const CAMPAIGN_MAX = 45_000_000;
/** Those that anything counts on. */
const DAYS = ["2026-09-30", "2026-11-10", "2026-11-11"];

type InFlight =
	| { queue: "postbacks"; postback: ModelPostback; body: ReturnType<typeof postbackMessage> }
	| { queue: "clicks"; click: ModelClick; body: ClickMessage };
function newClient(publisher: string): FeedClient<ConversionChange> {
	return new FeedClient<ConversionChange>(
		async ({ limit, after }) => {
			const query = v.parse(conversionChangesQuery, { limit: String(limit), ...(after !== undefined && { after }) });
			const page = await readConversionChanges(openDatabase(env.DB), publisher, query);
			if (page === null) throw new Error(`no publisher ${publisher}`);
			return page;
		},
		(copy, entry) => {
			if (entry.new === null) copy.delete(entry.id);
			else copy.set(entry.id, entry);
		},
	);
}

/** Takes the messages of a batch. @throws whatever the database throws */
type Consumer = (bodies: readonly unknown[], database?: D1Database) => Promise<void>;

class World {
	readonly model = new ReferenceLedger(PUBLISHERS, PLATFORMS);
	readonly #inFlight: InFlight[] = [];
	readonly #made = new Set<number>();
	readonly #sent: SentPostback[] = [];
	/** Adjustments in the order in which they were asked for. */
	readonly #adjusted: { id: string; ofClicks: boolean }[] = [];
	/** Of those that void clicks, which are undone. */
	readonly #givenBack = new Set<string>();
	/** Copies of what the feed of changes tells each publisher. */
	readonly #clients = { cpa: newClient("cpa"), quiet: newClient("quiet"), cpc: newClient("cpc") };
	#now = START;
	#received = 0;

	constructor() {
		for (const platform of Object.keys(CAMPAIGNS)) this.model.campaignMax.set(platform, CAMPAIGN_MAX);
	}

	/** Imports all that imports may change. */
	async begin(): Promise<void> {
		await this.#import([...this.model.publishers.keys()], [...this.model.platforms.keys()]);
	}

	async take(step: Step): Promise<void> {
		this.#tick();
		if (step.kind === "receive") this.#receive(step.postback);
		else if (step.kind === "again") this.#again(step);
		else if (step.kind === "deliver") await this.#deliver(step.queue, step.picks, step.fate);
		else if (step.kind === "click") await this.#click(step);
		else if (step.kind === "rates") await this.#rate(step);
		else if (step.kind === "revalue") await this.#revalue(step);
		else if (step.kind === "pass") await this.#pass(step.minutes);
		else if (step.kind === "judge") await this.#judge(step);
		else if (step.kind === "attach") await this.#attach(step);
		else if (step.kind === "undo") await this.#undo(step.back);
		else if (step.kind === "void_clicks") await this.#voidClicks(step.source);
		else if (step.kind === "follow") await this.#follow(step.of, step.limit, step.pages, step.kept);
		else if (step.kind === "remove") await this.#remove(step.of);
		else if (step.kind === "erase") await this.#erase(step.subject);
		else if (step.kind === "ceiling") await this.#ceil(step);
		else if (step.kind === "hear") await this.#hear();
		else if (step.kind === "expose") await this.#expose();
		else if (step.kind === "publisher") await this.#pay(step);
		else if (step.kind === "platform") await this.#mean(step);
		else if (step.kind === "suspend") await this.#suspend(step.id);
		else {
			this.model.lookAgain(step.platform, step.txnid, this.#now);
			await this.#consumePostbacks([{ format: 1, kind: "look_again", platform: step.platform, txnid: step.txnid }]);
		}
	}

	/** Of what happens in one millisecond, what is learned has the end only. */
	#tick(): void {
		this.#now += 1;
	}

	/** The queues deliver until nothing is left. */
	async finish(): Promise<void> {
		for (const queue of ["clicks", "postbacks"] as const) {
			while (this.#inFlight.some((item) => item.queue === queue)) await this.#deliver(queue, [0, 1, 2, 3], "acked");
		}
		// Whatever waits for its click is looked at by then.
		await this.#pass(1_500);
	}

	/** What each publisher has of its conversions by the feed, in the order of {@link ReferenceLedger.reported}. */
	async copies(): Promise<[publisher: string, entries: unknown[][]][]> {
		const copies: [string, unknown[][]][] = [];
		for (const publisher of Object.keys(PUBLISHERS) as (keyof typeof PUBLISHERS)[]) {
			await this.#follow(publisher, 3);
			const entries = [...this.#clients[publisher].copy.values()].map(({ id, new: now }) => {
				const money = [now?.revenue, now?.gross_revenue, now?.credited_revenue].map((usd) => parseMicros(usd ?? ""));
				return [id, now?.status, now?.date, ...money];
			});
			copies.push([publisher, entries.sort(byText)]);
		}
		return copies;
	}

	/** Whoever was away for so long that not all changes are kept begins anew. */
	async #follow(of: keyof typeof PUBLISHERS, ...how: Parameters<FeedClient<ConversionChange>["read"]>): Promise<void> {
		try {
			await this.#clients[of].read(...how);
		} catch (error) {
			if (!(error instanceof HttpError && error.status === 410)) throw error;
			this.#clients[of] = newClient(of);
			await this.#clients[of].read(...how);
		}
	}

	/** As if so many days had passed, in which no queue keeps anything that was taken. PostgreSQL drops whole weeks. */
	async #remove(of: "unpaid" | "all"): Promise<void> {
		if (!ON_D1) return;
		const stored = new Set([...this.model.clicks, ...this.model.removed].map(({ id }) => id));
		const waiting = this.#inFlight.filter((item) => item.queue !== "clicks" || !stored.has(item.click.id));
		this.#inFlight.splice(0, this.#inFlight.length, ...waiting);
		const days = of === "all" ? { clickDays: 30, passed: 40 } : { clickDays: 400, passed: 130 };
		const now = () => this.#now + days.passed * DAY_MS;
		await removeOld({ db: openDatabase(env.DB), now, clickDays: days.clickDays, archive: undefined });
		this.model.remove(of);
	}

	#again({ back, but, isStatement }: Extract<Step, { kind: "again" }>): void {
		const sent = this.#sent.at(-1 - back);
		if (sent !== undefined) this.#receive({ ...sent, ...but }, isStatement);
	}

	/** The conversion of something that was sent; of none where nothing was. */
	#keyOf(back: number): { platform: string; txnid: string } {
		return this.#sent.at(-1 - back) ?? { platform: "west", txnid: "t0" };
	}

	/** As the intake reads it from the request; or as it is made of a statement. */
	#receive(sent: SentPostback, isStatement = false): void {
		this.#now += 1;
		const read = (query: string) => readPostback(pickValues(splitFields(query)), this.#now).postback;
		// The same in whatever letter case a click hash is told.
		const mark = `told-${read(queryOf(sent))?.cid.toLowerCase()}`;
		const query = `${queryOf(sent)}&s2=${mark}`;
		const postback = read(query);
		if (postback === null) throw new Error("a postback of these is never rejected");
		const body = postbackMessage(sent.platform, postback, this.#now);
		body.intake.query = query;
		if (isStatement) body.intake.method = STATEMENT;
		const order = ++this.#received;
		this.#sent.push(sent);
		this.#inFlight.push({ queue: "postbacks", postback: { ...sent, mark, order, receivedAt: this.#now, isStatement }, body });
	}

	async #deliver(queue: InFlight["queue"], picks: readonly number[], fate: string): Promise<void> {
		const waiting = this.#inFlight.filter((item) => item.queue === queue);
		if (waiting.length === 0) return;
		this.#tick();
		const chosen = picks.flatMap((pick) => waiting[pick % waiting.length] ?? []);
		const bodies = chosen.map(({ body }) => body);
		const consume: Consumer = queue === "clicks" ? (...of) => this.#consumeClicks(...of) : (...of) => this.#consumePostbacks(...of);
		if (fate === "before") return consume(bodies, FAILING);
		this.#tell(chosen);
		await (fate === "twice" ? Promise.all([consume(bodies), consume(bodies)]) : consume(bodies));
		if (fate === "after") return;
		for (const item of new Set(chosen)) this.#inFlight.splice(this.#inFlight.indexOf(item), 1);
	}

	/** The model takes a batch in the order in which it came about. */
	#tell(items: readonly InFlight[]): void {
		const clicks = items.flatMap((item) => (item.queue === "clicks" ? [item.click] : []));
		for (const click of clicks.toSorted((a, b) => a.clickedAt - b.clickedAt)) this.model.store(click);
		const postbacks = items.flatMap((item) => (item.queue === "postbacks" ? [item.postback] : []));
		for (const postback of postbacks.toSorted((a, b) => a.order - b.order)) this.model.take(postback, this.#now);
		this.model.endBatch();
	}

	/** A user clicks: on what the publisher is paid at this moment. */
	async #click({ at, way, around: [before, after] }: Extract<Step, { kind: "click" }>): Promise<void> {
		const click = CLICKS[at];
		if (click === undefined || this.#made.has(at)) return;
		this.#made.add(at);
		if (way === "old_row" && !this.model.isBilled(click.hash)) {
			this.model.store({ ...click, isCounted: false });
			return storeClicks(oldRow(click));
		}
		const publisher = this.model.publishers.get(click.publisher);
		const terms = way === "message" && publisher !== undefined ? { model: publisher.model, share: publisher.share } : null;
		const { publisherClickId } = click;
		const sent = { ...click, ...terms, publisherClickId: publisherClickId === null ? null : before + publisherClickId + after };
		this.#inFlight.push({ queue: "clicks", click: sent, body: clickMessage(sent) });
	}

	/** New ones, or others for days that have one: which re-value nothing. */
	async #rate({ currency, days, nanos }: Extract<Step, { kind: "rates" }>): Promise<void> {
		for (const day of days) this.model.rates.set(`${currency} ${day}`, nanos);
		const usd = (Number(nanos) / 1e9).toFixed(9);
		await this.#importFile({ exchange_rates: days.map((date) => ({ currency, date, usd })) });
	}

	/** What a dry run says is what it does, and what the model says. */
	async #revalue({ currency, from, to }: Extract<Step, { kind: "revalue" }>): Promise<void> {
		const before = this.model.totals();
		const conversions = this.model.revalue(currency, from, to, this.#now);
		const after = this.model.totals();
		const deps = this.#adjusting();
		const request = { kind: "revalue", currency, from, to, text: "corrected" } as const;
		if (conversions === null) return expect(revalue(deps, request)).rejects.toMatchObject({ status: 422 });
		const [publisher_revenue, gross_revenue] = [formatUsd(after[0] - before[0]), formatUsd(after[1] - before[1])];
		const change = { conversions, publisher_revenue, gross_revenue, complete: true };
		expect(await previewRevalue(deps, request)).toMatchObject(change);
		expect(await revalue(deps, request)).toMatchObject(change);
	}

	#adjusting(): AdjustmentDeps {
		return adjustingOn(openDatabase(env.DB), () => this.#now);
	}

	/** Asked twice at once. What a dry run says is what it does, and what the model says; where that refuses it, so does the ledger. */
	async #adjust(request: AdjustmentRequest & { id: string }, isKnown: boolean, change: object): Promise<void> {
		const deps = this.#adjusting();
		if (!isKnown) return expect(adjust(deps, request)).rejects.toMatchObject({ status: 422 });
		expect(await previewAdjustment(deps, request)).toMatchObject(change);
		expect(await Promise.all([adjust(deps, request), adjust(deps, request)])).toMatchObject([change, change]);
	}

	#newId(ofClicks = false): string {
		const id = `adjustment-${this.#adjusted.length}`;
		this.#adjusted.push({ id, ofClicks });
		return id;
	}

	/** What the model's totals grow by. */
	#growth(run: () => boolean): { isKnown: boolean; change: { publisher_revenue: string; gross_revenue: string } } {
		const before = this.model.totals();
		const isKnown = run();
		const after = this.model.totals();
		return { isKnown, change: { publisher_revenue: formatUsd(after[0] - before[0]), gross_revenue: formatUsd(after[1] - before[1]) } };
	}

	async #judge({ back, verdict }: Extract<Step, { kind: "judge" }>): Promise<void> {
		const { platform, txnid } = this.#keyOf(back);
		const id = this.#newId();
		const { isKnown, change } = this.#growth(() => this.model.judge(id, platform, txnid, verdict, this.#now));
		const kind =
			verdict === "voided"
				? ("void_conversion" as const)
				: verdict === "released"
					? ("release_conversion" as const)
					: ("restore_conversion" as const);
		await this.#adjust({ kind, id, platform, txnid, text: "a word" }, isKnown, { ...change, conversions: 1 });
	}

	async #attach({ back, at }: Extract<Step, { kind: "attach" }>): Promise<void> {
		const { platform, txnid } = this.#keyOf(back);
		const id = this.#newId();
		const click = CLICKS[at]?.id ?? "";
		const { isKnown, change } = this.#growth(() => this.model.attach(id, platform, txnid, click, this.#now));
		const request = { kind: "attach_conversion", id, platform, txnid, click, text: "its click" } as const;
		const attaching = (isDryRun: boolean) => attach(this.#adjusting(), request, isDryRun);
		if (!isKnown) return expect(attaching(false)).rejects.toMatchObject({ status: 422 });
		expect(await attaching(true)).toMatchObject(change);
		expect(await Promise.all([attaching(false), attaching(false)])).toMatchObject([change, change]);
	}

	async #undo(back: number): Promise<void> {
		const undone = this.#adjusted.at(-1 - back);
		if (undone === undefined) return;
		const request = {
			kind: "undo",
			id: `undo-${this.#adjusted.length}-${++this.#received}`,
			adjustment: undone.id,
			text: "undone",
		} as const;
		if (undone.ofClicks) {
			const isKnown = !this.#givenBack.has(undone.id);
			const [clicks, revenue] = this.model.restoreClicks(undone.id);
			this.#givenBack.add(undone.id);
			return this.#adjust(request, isKnown, { clicks, publisher_revenue: formatUsd(revenue) });
		}
		const { isKnown, change } = this.#growth(() => this.model.undo(undone.id, this.#now));
		await this.#adjust(request, isKnown, change);
	}

	/** But of clicks that were counted nowhere. */
	async #voidClicks(source: string): Promise<void> {
		if ([...this.model.clicks, ...this.model.removed].some(({ isCounted }) => !isCounted)) return;
		const id = this.#newId(true);
		const [clicks, revenue] = this.model.voidClicks(id, source);
		await this.#adjust({ kind: "void_clicks", id, source, text: "a farm" }, true, { clicks, publisher_revenue: formatUsd(-revenue) });
	}

	/** What a dry run counts is what is erased, and nothing is left of it. */
	async #erase(subject: Extract<Step, { kind: "erase" }>["subject"]): Promise<void> {
		const [db, now] = [openDatabase(env.DB), () => this.#now];
		const deps = { db, kv: env.BOOK, archive: undefined, keys: new KeyOwners({ db, now }), now };
		const asked = "hash" in subject ? { click: subject.hash } : subject;
		const run = (actor: Actor | null) => erase(deps, asked, readPosition(undefined), actor);
		const { counts } = await run(null);
		expect(await run(ACTOR)).toMatchObject({ complete: true, counts });
		this.model.erase(subject);
		const none = Object.fromEntries(Object.keys(counts).map((name) => [name, 0]));
		expect((await run(null)).counts).toEqual(none);
	}

	async #ceil({ of, max }: Extract<Step, { kind: "ceiling" }>): Promise<void> {
		this.model.campaignMax.set(of, max);
		await env.DB.prepare("UPDATE campaigns SET max_payout_micros = ? WHERE campaign_id = ?").bind(max, CAMPAIGNS[of]).run();
	}

	/** The publisher's share, pricing model and amendments are others from here on. */
	async #pay({ id, terms }: Extract<Step, { kind: "publisher" }>): Promise<void> {
		const known = this.model.publishers.get(id);
		if (known !== undefined) this.model.publishers.set(id, { ...known, ...terms });
		await this.#import([id], []);
	}

	/** What the platform's words, payouts below zero and amounts without a currency mean is another thing from here on. */
	async #mean({ id, meaning }: Extract<Step, { kind: "platform" }>): Promise<void> {
		const known = this.model.platforms.get(id);
		if (known !== undefined) this.model.platforms.set(id, { ...known, ...meaning });
		await this.#import([], [id]);
	}

	/** Or, where it is suspended, makes it active again. */
	async #suspend(publisher: string): Promise<void> {
		if (!this.model.suspended.delete(publisher)) this.model.suspended.add(publisher);
		await this.#import([publisher], []);
	}

	async #hear(): Promise<void> {
		this.model.hear();
		await env.DB.prepare("UPDATE callbacks SET state = 'delivered', exposures = 1 WHERE state = 'due'").run();
	}

	async #expose(): Promise<void> {
		this.model.expose();
		await env.DB.prepare("UPDATE callbacks SET exposures = 1 WHERE state = 'due'").run();
	}

	async #pass(minutes: number): Promise<void> {
		this.#now += minutes * MINUTE;
		this.model.sweep(this.#now);
		await sweepConversions({ db: openDatabase(env.DB), now: () => this.#now, callbacks: undefined });
	}

	/** Entries as the model has them. */
	#import(publishers: readonly string[], platforms: readonly string[]): Promise<void> {
		return this.#importFile({
			publishers: publishers.map((id) => {
				const { share = 0n, model: pricing_model, amendments, url } = this.model.publishers.get(id) ?? {};
				const callback_url = url === true ? "https://publisher.example/s2s" : null;
				const status = this.model.suspended.has(id) ? "suspended" : "active";
				return publisherEntry(id as keyof typeof PUBLISHERS, {
					revenue_share: Number(share) / 1e6,
					pricing_model,
					amendments,
					callback_url,
					status,
				});
			}),
			platforms: platforms.map((id) => {
				const { currency, negative: negative_payout, words: status_map, max } = this.model.platforms.get(id) ?? { max: null };
				const max_payout = typeof max === "number" ? String(max / 1e6) : null;
				return platformEntry(id as keyof typeof PLATFORMS, { currency, negative_payout, status_map, max_payout });
			}),
		});
	}

	async #importFile(file: object): Promise<void> {
		const book = { version: 0, complete: true, shardsWritten: 0, bytesWritten: 0, manifest: null };
		await importNetwork(
			{
				db: openDatabase(env.DB),
				products: openDatabase(env.PRODUCTS),
				publish: async () => book,
				now: () => this.#now,
				allowInsecureCallbacks: false,
			},
			new Blob([JSON.stringify(file)]).stream(),
			PLAIN_IMPORT,
		);
	}

	async #consumePostbacks(bodies: readonly unknown[], database: D1Database = env.DB): Promise<void> {
		const messages = bodies.map((body, at) => ({ id: `m-${at}`, timestamp: new Date(), attempts: 1, body }));
		const batch = createMessageBatch("clickbourse-postbacks", messages);
		const [db, now] = [openDatabase(database), () => this.#now];
		await consumePostbacks({ db, now, callbacks: undefined, postbacks: undefined, keys: new KeyOwners({ db, now }) }, batch);
		const { explicitAcks } = await getQueueResult(batch, createExecutionContext());
		// What is known already needs no write, and is acknowledged even then.
		if (database !== FAILING) expect(explicitAcks).toHaveLength(messages.length);
	}

	async #consumeClicks(bodies: readonly unknown[], database: D1Database = env.DB): Promise<void> {
		const messages = bodies.map((body, at) => ({ id: `m-${at}`, body }));
		const consumed = consumeClicks({ db: openDatabase(database), kv: env.BOOK, now: () => this.#now }, messages);
		// What is known already needs no write.
		await (database === FAILING ? consumed.catch((error: unknown) => expect(String(error)).toContain("no_such_table")) : consumed);
	}
}

function queryOf({ txnid, cid, status, eventAt, payoutMicros, salesMicros, currency }: SentPostback): string {
	const amount = (micros: number) =>
		`${micros < 0 ? "-" : ""}${(BigInt(Math.abs(micros)) / 1_000_000n).toString()}.${String(Math.abs(micros) % 1_000_000).padStart(6, "0")}`;
	const sales = salesMicros === null ? null : amount(salesMicros);
	const fields = Object.entries({ txnid: ` ${txnid}`, cid, edate: String(eventAt), payout: amount(payoutMicros), sales, status, currency });
	return fields.map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`).join("&");
}

function clickMessage({
	id,
	clickedAt,
	hash,
	publisher,
	platform,
	publisherClickId,
	uid,
	source,
	reason,
	bid,
	model,
	share,
}: ModelClick): ClickMessage {
	return {
		format: 1,
		id,
		at: clickedAt,
		hash,
		kind: "openrtb",
		publisher: `identity-${publisher}`,
		brandId: 1,
		campaignId: CAMPAIGNS[platform ?? ""] ?? 99,
		bidMicros: bid,
		...(reason !== null && reason !== "voided" && { reason }),
		...(model !== null && { pricingModel: model }),
		...(share !== null && { sharePpm: Number(share) }),
		link: "homepage",
		texts: { uid, ...(publisherClickId !== null && { clickid: publisherClickId }), ...(source !== null && { subi: source }) },
	};
}

/** As a version stored it that fixed no terms. */
function oldRow({
	id,
	hash,
	platform,
	publisher,
	publisherClickId,
	uid,
	source,
	reason,
	clickedAt,
}: ModelClick): ReturnType<typeof clickRow> {
	return clickRow({
		id,
		click_hash: hash,
		platform,
		publisher_id: publisher,
		publisher_click_id: publisherClickId,
		uid,
		source_id: source,
		reason,
		clicked_at: clickedAt,
		campaign_id: CAMPAIGNS[platform ?? ""] ?? 99,
		pricing_model: null,
		revenue_share_ppm: null,
	});
}

let failures = 0;

/** The real database, whose writing transactions fail at their end, when everything before has been done. */
const FAILING: D1Database = new Proxy(env.DB, {
	get(target, name) {
		const value: unknown = Reflect.get(target, name);
		if (name !== "batch") return typeof value === "function" ? value.bind(target) : value;
		return (statements: D1PreparedStatement[]) => {
			if (!statements.some((statement) => JSON.stringify(statement).includes("INSERT INTO"))) return target.batch(statements);
			failures++;
			return target.batch([...statements, target.prepare("SELECT * FROM no_such_table")]);
		};
	},
});

/** Rows of several queries, in one call. */
async function readTogether<Name extends string>(queries: Record<Name, string>): Promise<Record<Name, Record<string, unknown>[]>> {
	const names = Object.keys(queries) as Name[];
	const answers = await env.DB.batch<Record<string, unknown>>(names.map((name) => env.DB.prepare(queries[name])));
	return Object.fromEntries(names.map((name, at) => [name, answers[at]?.results ?? []])) as Record<Name, Record<string, unknown>[]>;
}

const SUMS = "conversion_count, conversion_revenue_micros, gross_micros, sales_micros, pending_revenue_micros";
const totalsOf = (table: string) =>
	`SELECT publisher_id, date, ${SUMS.replaceAll(/\w+/g, "sum($&) AS $&")} FROM ${table} GROUP BY 1, 2 ORDER BY 1, 2`;

/** What is checked of the ledger, its sums and its outbox. */
const LEDGER = {
	callbacks:
		"SELECT platform, txnid, seq, status, payout_micros, cid, event_at, publisher_id, state FROM callbacks ORDER BY platform, txnid, seq",
	sources: `SELECT publisher_id, date, source_id, ${SUMS} FROM daily_sources WHERE conversion_count <> 0 OR gross_micros <> 0`,
	publisherTotals: totalsOf("daily_publishers"),
	sourceTotals: totalsOf("daily_sources"),
	networkTotals: totalsOf("(SELECT approved_count + pending_count AS conversion_count, n.* FROM daily_network n) n"),
	intakes: "SELECT platform, txnid, cid, query FROM postback_intake ORDER BY id",
};

async function check(world: World): Promise<void> {
	const { model } = world;
	const columns = Object.keys(model.conversions()[0] ?? { platform: "" }).join(", ");
	const rows = await readTogether({
		conversions: `SELECT ${columns} FROM conversions ORDER BY platform, txnid`,
		...LEDGER,
		...CLICKS_STORED,
		...HISTORY,
		...LEARNED,
	});
	const isKnown = new Set(CLICKS.map(({ hash }) => hash));
	const isOfNoClick = (cid: unknown) => /^[0-9a-f]{32}$/.test(String(cid)) && !isKnown.has(String(cid));
	const readable = ({ cid, ...row }: Record<string, unknown>, wanted: unknown) =>
		wanted === UNKNOWN_HASH && isOfNoClick(cid) ? { ...row, cid: wanted } : { ...row, cid };
	const wanted = model.conversions();
	expect(rows.conversions.map((row, at) => readable(row, wanted[at]?.cid))).toEqual(wanted);
	expect(rows.callbacks).toEqual(model.callbacks());
	expect(rows.sources.map((row) => Object.values(row)).sort(byText)).toEqual(model.sums("publishers"));
	expect(rows.publisherTotals).toEqual(rows.sourceTotals);
	const counted = rows.networkTotals.map((row) => Object.values(row)).filter(([, , count]) => count !== 0);
	expect(counted.sort(byText)).toEqual(byPublisherAndDay(model.sums("campaigns")));
	const intakes = model.intakes();
	const kept = rows.intakes.map(({ query, ...row }, at) => {
		const told = new URLSearchParams(String(query));
		const mark = told.get("s2");
		// Nothing else of the user is left of one that is erased.
		if (mark === null) expect(told.get("cid")).toBe(row.cid);
		return { ...readable(row, intakes[at]?.cid), mark };
	});
	expect(kept).toEqual(intakes);
	checkClicks(model, rows);
	checkHistory(rows);
	checkErased(model, rows);
	for (const [publisher, entries] of await world.copies()) expect([publisher, entries]).toEqual([publisher, model.reported(publisher)]);
	if (model.removed.length === 0) await checkLearned(rows);
	// What the operator checks every night finds nothing amiss either.
	const keys = rows.conversions.map(({ platform, txnid }) => ({ platform: String(platform), txnid: String(txnid) }));
	expect((await checkLedger({ db: openDatabase(env.DB), now: () => 0 }, keys)).differences).toEqual([]);
	if (model.removed.length > 0 || model.clicks.some(({ isCounted }) => !isCounted)) return;
	for (const day of DAYS) expect(await reconcileDay({ db: openDatabase(env.DB), now: () => START }, day)).toEqual([]);
}

/** Sums of all sources together. */
function byPublisherAndDay(sums: readonly unknown[][]): unknown[][] {
	const groups = Map.groupBy(sums, ([publisher, date]) => JSON.stringify([publisher, date]));
	const added = (rows: readonly unknown[][], at: number) => rows.reduce((sum, row) => sum + Number(row[at]), 0);
	return [...groups].map(([key, rows]) => [...(JSON.parse(key) as string[]), ...[3, 4, 5, 6, 7].map((at) => added(rows, at))]).sort(byText);
}

/** Clicks that count, and what they earned, by day. */
function clickSumsOf(table: string): string {
	const source = table === "daily_sources" ? "source_id" : "'' AS source_id";
	const paid = table === "daily_network" ? "WHERE reason = ''" : "";
	return `SELECT publisher_id, date, ${source}, sum(click_count) AS clicks, sum(click_revenue_micros) AS revenue FROM ${table} ${paid} GROUP BY 1, 2, 3 HAVING sum(click_count) > 0`;
}

const CLICK_SUMS = {
	daily_sources: clickSumsOf("daily_sources"),
	daily_publishers: clickSumsOf("daily_publishers"),
	daily_network: clickSumsOf("daily_network"),
};

const CLICKS_STORED = {
	clicks: "SELECT id, reason, publisher_click_id, uid, pricing_model, revenue_share_ppm, revenue_micros FROM clicks ORDER BY id",
	...CLICK_SUMS,
};

type Rows<Name extends string> = Record<Name, Record<string, unknown>[]>;

/** Every click is stored with the terms that it was made under, and counted by them. */
function checkClicks(model: ReferenceLedger, { clicks, ...counted }: Rows<keyof typeof CLICKS_STORED>): void {
	expect(clicks).toEqual(model.storedClicks());
	for (const table of Object.keys(CLICK_SUMS) as (keyof typeof CLICK_SUMS)[]) {
		const sums = counted[table];
		const wanted = model.clickSums(table === "daily_sources");
		expect([table, sums.map((row) => Object.values(row)).sort(byText)]).toEqual([table, wanted]);
	}
}

const HISTORY = {
	states:
		'SELECT platform, txnid, stage, status, payout_micros AS "payoutMicros", revenue_micros AS "revenueMicros", click_id AS "clickId", event_at AS "eventAt", currency, usd_nanos AS "usdNanos", event_count FROM conversions',
	events: "SELECT platform, txnid, seq, details -> 'set' AS told FROM conversion_events ORDER BY platform, txnid, seq",
	history: "SELECT platform, txnid, click_id, publisher_click_id FROM conversion_history",
};

/** Of each conversion the events are numbered without a gap, and what they set is its present state. */
function checkHistory({ states, events }: Rows<keyof typeof HISTORY>): void {
	for (const { platform, txnid, event_count, ...state } of states) {
		const own = events.filter((event) => event.platform === platform && event.txnid === txnid);
		expect(own.map(({ seq }) => seq)).toEqual(Array.from({ length: Number(event_count) }, (_, at) => at + 1));
		const blank = { revenueMicros: null, clickId: null, usdNanos: null };
		expect(Object.assign(blank, ...own.map(({ told }) => JSON.parse(String(told))))).toMatchObject(state);
	}
}

/** Of what is erased no event, and no row of before, has anything. */
function checkErased(model: ReferenceLedger, { events, history }: Rows<"events" | "history">): void {
	const kept = new Set(model.marks().map((mark) => JSON.stringify(mark)));
	for (const { platform, txnid, told } of events) {
		for (const [mark] of String(told).matchAll(/told-[^"]*/g)) expect(kept).toContain(JSON.stringify([platform, txnid, mark]));
	}
	const erased = new Set(model.clicks.flatMap(({ id, isErased }) => (isErased === true ? [id] : [])));
	expect(history.filter((row) => row.publisher_click_id !== null && erased.has(String(row.click_id)))).toEqual([]);
}

/** Of what stands for nothing there may be a row, or none. */
const LEARNED = {
	learning_clicks: "SELECT * FROM learning_clicks WHERE clicks <> 0 OR gross_micros <> 0 OR paid_micros <> 0",
	learning_earnings: "SELECT * FROM learning_earnings WHERE conversions <> 0 OR net_micros <> 0",
	learning_publisher_delays: "SELECT * FROM learning_publisher_delays WHERE arrivals <> 0 OR reversals <> 0",
	learning_conversions: "SELECT * FROM learning_conversions",
};

/** What prices are learned from is what the ledger tells. */
async function checkLearned(rows: Rows<keyof typeof LEARNED>): Promise<void> {
	await rebuildWeek(openDatabase(env.DB), weekOf(Math.floor((START - 10_000) / DAY_MS)));
	const rebuilt = await readTogether(LEARNED);
	const sorted = (table: keyof typeof LEARNED, of: Rows<keyof typeof LEARNED>) => [
		table,
		of[table].map((row) => JSON.stringify(row)).sort(),
	];
	for (const table of Object.keys(LEARNED) as (keyof typeof LEARNED)[]) expect(sorted(table, rows)).toEqual(sorted(table, rebuilt));
}

const EXAMPLES = [FAILED_ONCE, FAILED_ONCE, FAILED_ONCE, ...HELD_AND_REVALUED, RELEASED_WITHOUT_CLICK, ...STATEMENT_REPEATED];

let restoreSettings: () => Promise<void>;

/** All is as it was when the first history began. */
async function forgetAll(): Promise<void> {
	await forgetTraffic("exchange_rates", "stops", "retention");
	// So clicks are learned from.
	await env.DB.prepare("UPDATE click_sequence SET learning_gap = 0").run();
	await restoreSettings();
	await env.DB.prepare("UPDATE campaigns SET max_payout_micros = ?").bind(CAMPAIGN_MAX).run();
}

describe("worker: conversions exactly once", () => {
	beforeAll(async () => {
		await importConversionNetwork();
		await new World().begin();
		restoreSettings = await keepRows(SETTINGS);
	});

	test("whatever comes, however often, in whatever order: the ledger, the sums and the outbox are those of the model", {
		timeout: 3_600_000,
	}, async () => {
		vi.spyOn(console, "error").mockImplementation(() => {});
		vi.spyOn(console, "log").mockImplementation(() => {});
		let runs = 0;
		await fc.assert(
			fc.asyncProperty(history, async (steps) => {
				if (++runs % 500 === 0) console.info(`${runs} histories`);
				await forgetAll();
				const world = new World();
				for (const step of steps) await world.take(step);
				await world.finish();
				await check(world);
			}),
			// However few histories there are, writes fail in some of them, and some are held for their amount.
			{ numRuns: RUNS, examples: EXAMPLES.map((steps): [Step[]] => [steps]) },
		);
		expect(failures).toBeGreaterThan(RUNS / 6);
	});
});
