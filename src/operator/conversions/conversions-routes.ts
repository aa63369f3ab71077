/** /operator/conversions: those that need a person are found, looked at, and settled. */
import { type Context, Hono } from "hono";
import { adjust, previewAdjustment } from "../../adjustments/adjust.ts";
import type { Adjusted } from "../../adjustments/adjustment-answer.ts";
import { attach, readAttachedClick } from "../../adjustments/attach.ts";
import type { AdjustingDeps, AdjustmentDeps, Judgement } from "../../adjustments/deps.ts";
import type { ConversionKey } from "../../conversions/conversion.ts";
import { actorOf } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { readBody, readDryRun, readInput } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { formatUsd } from "../../lib/money.ts";
import type { Judged } from "./conversions-answers.ts";
import { findCandidates, resolveClick } from "./find-clicks.ts";
import { attachSchema, clicksSchema, clickWanted, judgeSchema } from "./judge-request.ts";
import { listConversions } from "./list-conversions.ts";
import { readListQuery } from "./list-request.ts";
import { showConversionOf } from "./show-conversion.ts";

const KINDS = { release: "release_conversion", void: "void_conversion", restore: "restore_conversion" } as const;

export function conversionsRoutes(adjusting: AdjustingDeps): Hono {
	const { db } = adjusting;
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listConversions(db, readListQuery(c.req.query())), 200, NO_STORE));
	app.get("/:platform/:txnid", async (c) => {
		return jsonResponse(await show(adjusting, keyOf(c)), 200, NO_STORE);
	});
	app.get("/:platform/:txnid/clicks", async (c) => {
		const wanted = clickWanted(readInput(clicksSchema, c.req.query()));
		return jsonResponse(await findCandidates(db, keyOf(c), wanted), 200, NO_STORE);
	});
	app.post("/:platform/:txnid/attach", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const { text, id, ...wanted } = await readBody(c.req.raw, attachSchema);
		const key = keyOf(c);
		return answer({ ...adjusting, actor: actorOf(c) }, key, async (watched) => {
			const before = id === undefined ? null : await readAttachedClick(db, key, id);
			const click = await resolveClick(db, key, clickWanted(wanted), before);
			return attach(watched, { kind: "attach_conversion", ...key, click, id, text }, isDryRun);
		});
	});
	for (const [verb, kind] of Object.entries(KINDS)) {
		app.post(`/:platform/:txnid/${verb}`, async (c) => {
			const isDryRun = readDryRun(c.req.query());
			const { text, id } = await readBody(c.req.raw, judgeSchema);
			const key = keyOf(c);
			const request = { kind, ...key, id, text };
			return answer({ ...adjusting, actor: actorOf(c), verb: `${verb}Conversion` }, key, (watched) =>
				isDryRun ? previewAdjustment(watched, request) : adjust(watched, request),
			);
		});
	}
	return app;
}

const NO_STORE = { "cache-control": "no-store" };

function keyOf(c: Context): ConversionKey {
	return { platform: c.req.param("platform") ?? "", txnid: c.req.param("txnid") ?? "" };
}

/** @throws HttpError 422 where there is no such conversion, as for the verbs */
async function show({ db }: AdjustingDeps, key: ConversionKey) {
	const shown = await showConversionOf(db, key);
	if (shown === null) throw invalidInput([{ path: "txnid", message: "is no transaction of this platform" }]);
	return shown;
}

/** What an adjustment came to, with the conversion as it stands then; of one that was done before, as it stands now. */
async function answer(deps: AdjustmentDeps, key: ConversionKey, run: (deps: AdjustmentDeps) => Promise<Adjusted>): Promise<Response> {
	const seen: Judgement[] = [];
	const watch = async (judging: Promise<Judgement | null>) => {
		const judgement = await judging;
		if (judgement !== null) seen.push(judgement);
		return judgement;
	};
	const adjusted = await run({
		...deps,
		judge: (...word) => watch(deps.judge(...word)),
		attach: (...word) => watch(deps.attach(...word)),
	});
	const judgement = seen.at(-1);
	const standing = judgement === undefined ? standingOf((await show(deps, key)).conversion) : showJudged(judgement.conversion);
	const callbacks = (judgement?.callbacks ?? []).map(({ publisherId, status, payoutMicros }) => ({
		publisher: publisherId,
		status,
		payout: formatUsd(payoutMicros),
	}));
	return jsonResponse({ ...adjusted, conversion: standing, callbacks } satisfies Judged, 200, NO_STORE);
}

function standingOf(shown: Awaited<ReturnType<typeof show>>["conversion"]): Judged["conversion"] {
	const { stage, status, why, verdict, publisher, click_id, publisher_revenue } = shown;
	return { stage, status, why, verdict, publisher, click_id, publisher_revenue };
}

function showJudged(conversion: Judgement["conversion"]): Judged["conversion"] {
	const { stage, status, heldFor, verdict, publisherId, clickId, revenueMicros } = conversion;
	const publisher_revenue = revenueMicros === null ? null : formatUsd(revenueMicros);
	return { stage, status, why: heldFor, verdict, publisher: publisherId, click_id: clickId, publisher_revenue };
}
