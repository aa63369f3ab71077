/** /operator/conversions: those that need a person are found, looked at, and settled. */
import { type Context, Hono } from "hono";
import type { AdjustingDeps } from "../../adjustments/deps.ts";
import type { ConversionKey } from "../../conversions/conversion.ts";
import { actorOf } from "../../http/actor.ts";
import { readBody, readDryRun, readQuery } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { ofSegment } from "../../lib/path-segment.ts";
import { findCandidates } from "./find-clicks.ts";
import { attachByHand, JUDGING_VERBS, judgeByHand, mustShow, requireConversion } from "./judge-by-hand.ts";
import { attachSchema, clicksSchema, clickWanted, judgeSchema, releaseSchema } from "./judge-request.ts";
import { listConversions } from "./list-conversions.ts";
import { readListQuery } from "./list-request.ts";

export function conversionsRoutes(adjusting: AdjustingDeps): Hono {
	const { db } = adjusting;
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await listConversions(db, readListQuery(c.req.query()))));
	app.get("/:platform/:txnid", async (c) => jsonResponse(await mustShow(db, keyOf(c))));
	app.get("/:platform/:txnid/clicks", async (c) => {
		const wanted = clickWanted(readQuery(clicksSchema, c.req.query()));
		await requireConversion(db, keyOf(c));
		return jsonResponse(await findCandidates(db, keyOf(c), wanted));
	});
	app.post("/:platform/:txnid/attach", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const request = await readBody(c.req.raw, attachSchema);
		await requireConversion(db, keyOf(c));
		return jsonResponse(await attachByHand({ ...adjusting, actor: actorOf(c) }, keyOf(c), request, isDryRun));
	});
	for (const verb of JUDGING_VERBS) {
		app.post(`/:platform/:txnid/${verb}`, async (c) => {
			const isDryRun = readDryRun(c.req.query());
			const request = await readBody(c.req.raw, verb === "release" ? releaseSchema : judgeSchema);
			await requireConversion(db, keyOf(c));
			return jsonResponse(await judgeByHand({ ...adjusting, actor: actorOf(c) }, verb, keyOf(c), request, isDryRun));
		});
	}
	return app;
}

function keyOf(c: Context): ConversionKey {
	return { platform: ofSegment(c.req.param("platform") ?? ""), txnid: ofSegment(c.req.param("txnid") ?? "") };
}
