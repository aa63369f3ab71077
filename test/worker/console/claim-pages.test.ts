/** Claims: looked up first, opened, answered, granted and declined, on both consoles and by keys. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { SettledClaim } from "../../../src/claims/claim-answers.ts";
import { consumeClicks } from "../../../src/clicks/consumer/consume-clicks.ts";
import { capDeps, clickMessage, letters } from "../../support/click-messages.ts";
import { get, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { consume, importConversionNetwork, postbackMessage } from "../../support/conversions.ts";
import { setNow } from "../../support/load-network.ts";

const AT = Date.parse("2026-11-17T10:00:00Z");
const who: Record<string, Visitor> = {};

type Answer = {
	outcome: string;
	claim: { id: string; state: string; thread: { text: string; by: string }[] } | null;
	conversions: unknown[];
};

function call(path: string, body: object, key = "access-key-cpa"): Promise<Response> {
	return exports.default.fetch(`http://localhost:8787/api/claims${path}`, {
		method: "POST",
		headers: { AccessKey: key },
		body: JSON.stringify(body),
	});
}
const claim = async (body: object, key?: string) =>
	(await call("", { kind: "missing", text: "It was bought.", ...body }, key)).json<Answer>();
const operate = (path: string, body: object) =>
	exports.default.fetch(`http://localhost:8787/operator/claims/${path}`, {
		method: "POST",
		headers: { OperatorKey: env.OPERATOR_KEY },
		body: JSON.stringify(body),
	});
const stateOf = (id: string) => env.DB.prepare("SELECT state FROM claims WHERE id = ?").bind(id).first<string>("state");

async function earned(): Promise<string> {
	const response = await exports.default.fetch("http://localhost:8787/api/earnings?from=2026-11-11&to=2026-11-18", {
		headers: { AccessKey: "access-key-cpa" },
	});
	return (await response.json<{ total: { publisher_revenue: string } }>()).total.publisher_revenue;
}

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	await importConversionNetwork();
	who.cpa = await signIn({ publisher: "cpa", name: "Ada", role: "owner" });
	who.quiet = await signIn({ publisher: "quiet", name: "Cy" });
	who.viewer = await signIn({ staff: "viv", role: "viewer" });
	who.finance = await signIn({ staff: "fin", role: "finance" });
	const click = (fields: object) => clickMessage({ at: AT, campaignId: 11, kind: "link", publisher: "identity-cpa", ...fields });
	await consumeClicks(
		capDeps(() => AT),
		letters(
			click({ hash: "a".repeat(32), texts: { clickid: "sold" } }),
			click({ hash: "b".repeat(32), texts: { clickid: "unsold <1>" } }),
			click({ hash: "c".repeat(32), texts: { clickid: "robot" }, reason: "bot" }),
			click({ publisher: "identity-quiet", hash: "d".repeat(32), texts: { clickid: "theirs" } }),
		),
	);
	await consume(
		postbackMessage("west", { cid: "a".repeat(32), txnid: "sale-1", eventAt: AT }, AT),
		postbackMessage("west", { cid: "d".repeat(32), txnid: "sale-9", eventAt: AT }, AT),
		postbackMessage("west", { cid: "0".repeat(32), txnid: "lost-1", eventAt: AT, payoutMicros: 5_000_000 }, AT),
	);
});

describe("worker: claims", () => {
	it("are opened only where nothing is known that answers them", async () => {
		expect(await claim({ id: "sold" })).toMatchObject({ outcome: "known", claim: null, conversions: [{ transaction_id: "sale-1" }] });
		expect(await claim({ id: "nothing" })).toMatchObject({ outcome: "no_click", claim: null });
		expect(await claim({ id: "theirs" })).toMatchObject({ outcome: "no_click", claim: null, conversions: [] });
		expect(await claim({ id: "robot", kind: "wrong" })).toMatchObject({ outcome: "no_sale", claim: null });
		const opened = await claim({ id: "robot", brand: "shoes.example", at: "2026-11-17", amount: "12.5" });
		expect(opened).toMatchObject({ outcome: "opened", claim: { state: "open", amount: "12.5000", brand: "shoes.example" } });
		expect(await claim({ id: "robot" })).toMatchObject({ outcome: "under_way", claim: { id: opened.claim?.id } });
		expect((await claim({ id: "sale-1", kind: "wrong" })).outcome).toBe("opened");
		for (const body of [
			{ id: "" },
			{ id: 5 },
			{ kind: "lost" },
			{ text: " " },
			{ text: "x".repeat(1_001) },
			{ amount: "-1" },
			{ amount: "1e9" },
			{ at: "2026-02-30" },
			{ publisher: "quiet" },
		]) {
			expect([body, (await call("", { kind: "missing", id: "unsold <1>", text: "t", ...body })).status]).toEqual([body, 422]);
		}
		expect((await call("", {}, "access-key-nobody")).status).toBe(401);
		const { results } = await env.DB.prepare("SELECT actor, role, verb FROM audit WHERE verb = 'openClaim'").all();
		expect(results).toEqual(Array(2).fill({ actor: "cpa", role: "publisher", verb: "openClaim" }));
	});

	it("are bounded", async () => {
		await env.DB.prepare(
			`INSERT INTO claims (id, publisher_id, kind, about_id, state, thread, version, created_at, changed_at)
			SELECT 'many-' || atom, 'cpa', 'missing', 'many-' || atom, 'open', '[]', 1, 0, 0 FROM json_each(?)`,
		)
			.bind(JSON.stringify(Array.from({ length: 48 }, (_, n) => n)))
			.run();
		expect((await call("", { kind: "missing", id: "unsold <1>", text: "t" })).status).toBe(422);
		await env.DB.prepare("DELETE FROM claims WHERE id LIKE 'many-%'").run();
	});

	it("go to and fro in both consoles, and are the publisher's own alone", async () => {
		const form = { kind: "missing", id: "unsold <1>", text: "<b>Order 77</b>", amount: "", brand: "", at: "" };
		const opened = await shown(post("/console/claims", who.cpa, form));
		expect([opened.status, opened.text]).toEqual([200, expect.stringContaining("Your claim is open")]);
		const [, id = ""] = /href="\/console\/claims\/([^"]+)"/.exec(opened.text) ?? [];
		const own = await shown(get(`/console/claims/${id}`, who.cpa));
		expect(own.text).toContain("&lt;b&gt;Order 77&lt;/b&gt;");
		expect(own.text).not.toContain("<b>Order");
		for (const path of [`/console/claims/${id}`, "/console/claims/nothing"]) expect((await get(path, who.quiet)).status).toBe(404);
		for (const [verb, words] of [
			["reply", { text: "mine" }],
			["withdraw", {}],
		] as const) {
			expect((await post(`/console/claims/${id}/${verb}`, who.quiet, words)).status).toBe(404);
			expect((await call(`/${id}/${verb}`, words, "access-key-quiet")).status).toBe(404);
		}
		expect((await shown(get("/console/claims", who.quiet))).text).toContain("No claim was found");
		const listed = await shown(get("/console/operator/claims?state=open&publisher=cpa", who.viewer));
		expect(listed.text).toContain(`/console/operator/claims/${id}`);
		for (const [query, found] of [
			["to=2026-11-17", false],
			["from=2026-11-18&to=2026-11-18", true],
			["from=2026-11-18T15:00:01Z", false],
		] as const) {
			expect([query, (await shown(get(`/console/operator/claims?${query}`, who.viewer))).text.includes(id)]).toEqual([query, found]);
		}
		expect((await get("/console/operator/claims?from=yesterday", who.viewer)).status).toBe(422);
		const staff = await shown(get(`/console/operator/claims/${id}`, who.viewer));
		expect([staff.status, staff.text.includes("Decline")]).toEqual([200, false]);
		for (const verb of ["answer", "decline", "grant"])
			expect((await post(`/console/operator/claims/${id}/${verb}`, who.viewer, { text: "no" })).status).toBe(403);
		expect((await post(`/console/operator/claims/${id}/answer`, who.finance, { text: "" })).status).toBe(422);
		const long = `Which shop? ${"x".repeat(1_000)}`;
		for (const [path, writer] of [
			[`/console/operator/claims/${id}/answer`, who.finance],
			[`/console/operator/claims/${id}/decline`, who.finance],
			[`/console/operator/claims/${id}/grant`, who.finance],
			[`/console/claims/${id}/reply`, who.cpa],
		] as const) {
			const refused = await shown(post(path, writer, { text: long, kind: "amount", date: "2026-11-17", amount: "much" }));
			const kept = [long, ...(path.endsWith("grant") ? ['value="much"', "must be USD with at most four decimals, such as 12.50"] : [])];
			expect([path, refused.status, kept.every((text) => refused.text.includes(text))]).toEqual([path, 422, true]);
		}
		const overtaken = await shown(post(`/console/operator/claims/${id}/decline`, who.finance, { text: "No such order.", seen: "0" }));
		expect([overtaken.status, overtaken.text.includes("No such order.</textarea>")]).toEqual([412, true]);
		expect(overtaken.text).toContain('name="seen" value="1"');
		expect((await post(`/console/operator/claims/${id}/answer`, who.finance, { text: "Which shop?" })).status).toBe(303);
		expect(await stateOf(id)).toBe("answered");
		expect((await shown(get(`/console/claims/${id}`, who.cpa))).text).toContain("Which shop?");
		// As browsers send it, who count an end of a line once.
		const lines = `shoes.example\n${"1\n".repeat(400)}`.trim();
		expect((await post(`/console/claims/${id}/reply`, who.cpa, { text: lines.replaceAll("\n", "\r\n").padEnd(1_300, " ") })).status).toBe(
			303,
		);
		expect(await stateOf(id)).toBe("open");
		expect((await post(`/console/operator/claims/${id}/decline`, who.finance, { text: "It was cancelled." })).status).toBe(303);
		expect(await stateOf(id)).toBe("declined");
		for (const [path, writer] of [
			[`/console/claims/${id}/reply`, who.cpa],
			[`/console/operator/claims/${id}/answer`, who.finance],
		] as const) {
			const ended = await shown(post(path, writer, { text: "It <was> not." }));
			expect([path, ended.status, ended.text]).toEqual([path, 412, expect.stringContaining("It is declined, and so at its end.")]);
			expect(ended.text).toMatch(/What you wrote, which was not sent[\s\S]*<textarea [^>]*readonly[^>]*>It &lt;was&gt; not\.<\/textarea>/);
		}
		expect((await post(`/console/claims/${id}/withdraw`, who.cpa)).status).toBe(412);
		const { results } = await env.DB.prepare("SELECT actor, verb FROM audit WHERE subject_id = ? ORDER BY verb").bind(id).all();
		expect(results).toEqual([
			{ actor: "fin", verb: "answerClaim" },
			{ actor: "fin", verb: "declineClaim" },
			{ actor: "Ada (cpa)", verb: "openClaim" },
			{ actor: "Ada (cpa)", verb: "replyToClaim" },
		]);
	});

	it("say what an answer, a refusal or a grant would come to, and change nothing", async () => {
		const { claim: sold } = await claim({ id: "sale-1", kind: "wrong", text: "It was more." });
		const id = sold?.id ?? "";
		const stored = async () => {
			const { results } = await env.DB.prepare("SELECT * FROM claims ORDER BY id").all();
			const counts = "SELECT (SELECT count(*) FROM audit) AS audit, (SELECT count(*) FROM adjustments) AS adjustments";
			return [results, await env.DB.prepare(counts).first(), await earned()];
		};
		const before = await stored();
		const dry = async (verb: string, body: object) => {
			const response = await operate(`${id}/${verb}?dry_run=1`, body);
			return { status: response.status, body: await response.json<SettledClaim>() };
		};
		const amount = { kind: "amount", date: "2026-11-17", amount: "12.50" };
		for (const [verb, state, body] of [
			["answer", "answered", { text: "Which shop?" }],
			["decline", "declined", { text: "No." }],
			["grant", "granted", { text: "Yes.", by: amount }],
		] as const) {
			const { status, body: told } = await dry(verb, body);
			expect([verb, status, told.dry_run, told.state, told.thread.at(-1)?.text]).toEqual([verb, 200, true, state, body.text]);
			const of = { dry_run: true, id: null, kind: "amount", publisher_revenue: "12.5000", clicks: 0, conversions: 0 };
			expect(told.adjusted).toEqual(verb === "grant" ? expect.objectContaining(of) : null);
		}
		for (const by of [
			{ ...amount, date: "2026-11-19" },
			{ kind: "restore_conversion", platform: "west", txnid: "sale-9" },
			{ kind: "restore_conversion", platform: "west", txnid: "sale-1" },
		]) {
			expect([by, (await dry("grant", { text: "Yes.", by })).status]).toEqual([by, 422]);
		}
		expect((await operate(`${id}/grant?dryrun=1`, { text: "Yes.", by: amount })).status).toBe(422);
		expect((await operate("nothing/decline?dry_run=1", { text: "No." })).status).toBe(404);
		expect(await stored()).toEqual(before);
		await operate(`${id}/decline`, { text: "No." });
		expect((await dry("answer", { text: "Which shop?" })).status).toBe(412);
	});

	it("are granted once, by an adjustment of the claim's own publisher", async () => {
		const wrong = await claim({ id: "sale-1", kind: "wrong" });
		expect((await shown(get(`/console/operator/claims/${wrong.claim?.id}`, who.viewer))).text).toMatch(
			/What platforms sent of it[\s\S]*west[\s\S]*accepted/,
		);
		const before = await earned();
		const { claim: robot } = await claim({ id: "robot" });
		const path = `${robot?.id}/grant`;
		const amount = { kind: "amount", date: "2026-11-17", amount: "12.50" };
		for (const by of [
			{ ...amount, amount: "-5" },
			{ ...amount, publisher: "quiet" },
			{ kind: "restore_conversion", platform: "west", txnid: "sale-9" },
			{ kind: "attach_conversion", platform: "west", txnid: "lost-1", click: "theirs" },
			{ kind: "void_conversion", platform: "west", txnid: "sale-1" },
			{},
		]) {
			expect([by, (await operate(path, { text: "Yes.", by })).status]).toEqual([by, 422]);
		}
		expect([await stateOf(robot?.id ?? ""), await earned()]).toEqual(["open", before]);
		expect((await operate("nothing/grant", { text: "Yes.", by: amount })).status).toBe(404);
		const both = await Promise.all([operate(path, { text: "Yes.", by: amount }), operate(path, { text: "Yes.", by: amount })]);
		expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
		expect(Number(await earned())).toBeCloseTo(Number(before) + 12.5, 4);
		expect((await operate(path, { text: "Yes.", by: amount })).status).toBe(412);
		const { claim: unsold } = await claim({ id: "unsold <1>" });
		const form = {
			text: "It was found.",
			kind: "attach_conversion",
			platform: "west",
			txnid: "lost-1",
			click: "unsold <1>",
			date: "",
			amount: "",
		};
		expect((await post(`/console/operator/claims/${unsold?.id}/grant`, who.finance, form)).status).toBe(303);
		expect(await stateOf(unsold?.id ?? "")).toBe("granted");
		await env.DB.prepare("UPDATE claims SET state = 'open', version = version + 1 WHERE id = ?").bind(unsold?.id).run();
		const attach = { kind: "attach_conversion", platform: "west", txnid: "lost-1", click: "unsold <1>" };
		const again = await (await operate(`${unsold?.id}/grant?dry_run=1`, { text: "Yes.", by: attach })).json<SettledClaim>();
		// It was made before the claim could be written: it is told, and not made again.
		expect(again).toMatchObject({ dry_run: true, state: "granted", adjusted: { id: `claim-${unsold?.id}`, publisher_revenue: "4.0000" } });
		expect((await operate(`${unsold?.id}/grant`, { text: "Yes.", by: attach })).status).toBe(200);
		expect(Number(await earned())).toBeCloseTo(Number(before) + 12.5 + 4, 4);
		expect(await claim({ id: "unsold <1>" })).toMatchObject({ outcome: "known", conversions: [{ transaction_id: "lost-1" }] });
	});
});
