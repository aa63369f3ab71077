/** The postback endpoint: the exact answers, and a row in the intake ledger for each. */
import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { MAX_QUERY_BYTES } from "../../../src/conversions/read-request.ts";
import { MAX_UNKNOWN_PER_MINUTE } from "../../../src/conversions/unknown-key-limit.ts";
import worker from "../../../src/worker.ts";
import { callPostback, type Fields, importConversionNetwork, postbackFields, readAll, WEST_KEY } from "../../support/conversions.ts";
import { timed } from "../../support/timed.ts";

const RECEIVED = { message: "Postback received successfully" };
const KEY_INVALID = { message: "The given data was invalid.", errors: { access_key: ["The access key is invalid."] }, error_code: 1 };

function queryOf(fields: Fields): string {
	return new URLSearchParams(fields).toString();
}

/** The ledger's row of a transaction, once the queue has brought it. */
async function ledgerOf(txnid: string, count = 1) {
	const read = () =>
		readAll("SELECT platform, method, query, cid, outcome, answer FROM postback_intake WHERE txnid = ? ORDER BY id", txnid);
	await expect.poll(read, { timeout: 20_000 }).toHaveLength(count);
	return read();
}

describe("worker: the postback endpoint", () => {
	beforeAll(importConversionNetwork);
	afterEach(() => {
		vi.restoreAllMocks();
	});

	test("takes a GET with a query", async () => {
		const { status, body } = await callPostback(WEST_KEY, queryOf(postbackFields({ txnid: "get" })));
		expect([status, body]).toEqual([200, RECEIVED]);
		expect(await ledgerOf("get")).toMatchObject([
			{ platform: "west", method: "GET", outcome: "accepted", answer: JSON.stringify(RECEIVED) },
		]);
	});

	test("answers JSON", async () => {
		const response = await exports.default.fetch(
			`https://base.example/api/postback/${WEST_KEY}?${queryOf(postbackFields({ txnid: "json" }))}`,
		);
		expect(response.headers.get("content-type")).toBe("application/json");
		await response.body?.cancel();
	});

	test("takes a POST with a query, a form, or both", async () => {
		const fields = postbackFields({ txnid: "query" });
		expect((await callPostback(WEST_KEY, queryOf(fields), { method: "POST" })).body).toEqual(RECEIVED);
		expect((await callPostback(WEST_KEY, "", { method: "POST", body: new URLSearchParams({ ...fields, txnid: "form" }) })).body).toEqual(
			RECEIVED,
		);
		const multipart = new FormData();
		for (const [name, value] of Object.entries({ ...fields, txnid: "multipart" })) multipart.set(name, value);
		expect((await callPostback(WEST_KEY, "", { method: "POST", body: multipart })).body).toEqual(RECEIVED);
		const { txnid: _, ...rest } = fields;
		expect((await callPostback(WEST_KEY, "txnid=both", { method: "POST", body: new URLSearchParams(rest) })).body).toEqual(RECEIVED);
		expect(await ledgerOf("form")).toMatchObject([{ method: "POST", query: queryOf({ ...fields, txnid: "form" }) }]);
		expect(await ledgerOf("multipart")).toMatchObject([{ method: "POST", query: queryOf({ ...fields, txnid: "multipart" }) }]);
		expect(await ledgerOf("both")).toMatchObject([{ query: `txnid=both&${queryOf(rest)}` }]);
	});

	test("ids in another encoding than UTF-8 stay apart, however they come", async () => {
		const plain = queryOf(postbackFields({ txnid: "" })).replace("txnid=", "");
		const latin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
		const multipart = (txnid: string) => {
			const parts = Object.entries(postbackFields({ txnid })).map(
				([name, value]) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}`,
			);
			return latin(`${parts.join("\r\n")}\r\n--x--\r\n`);
		};
		await callPostback(WEST_KEY, `${plain}&txnid=%D6-query`);
		await callPostback(WEST_KEY, plain, { method: "POST", body: latin("txnid=Ö-form") });
		const headers = { "content-type": "multipart/form-data; boundary=x" };
		await callPostback(WEST_KEY, "", { method: "POST", body: multipart("Ö-parts"), headers });
		for (const txnid of ["Ö-query", "Ö-form", "Ö-parts"]) expect(await ledgerOf(txnid)).toMatchObject([{ outcome: "accepted" }]);
	});

	test("the query goes before the form, but an empty or unfilled field of it does not", async () => {
		const form = new URLSearchParams(postbackFields({ txnid: "of-form", cid: "of-form" }));
		expect((await callPostback(WEST_KEY, "txnid=of-query&cid={cid}&payout=", { method: "POST", body: form })).body).toEqual(RECEIVED);
		expect(await ledgerOf("of-query")).toMatchObject([{ cid: "of-form", outcome: "accepted" }]);
	});

	test("each required field that is missing or invalid is reported under its name, and kept with that answer", async () => {
		const { status, body } = await callPostback(WEST_KEY, "txnid=bad&cid={click_id}&edate=soon&payout=1,5");
		expect(status).toBe(200);
		expect(body).toEqual({
			message: "The given data was invalid.",
			errors: {
				cid: ["The cid field is required."],
				edate: ["The edate is not a valid date."],
				payout: ["The payout must be a number."],
			},
			error_code: 1,
		});
		expect(await ledgerOf("bad")).toMatchObject([{ platform: "west", outcome: "rejected", answer: JSON.stringify(body) }]);
		expect(await readAll("SELECT * FROM conversions WHERE txnid = 'bad'")).toEqual([]);
	});

	test("a macro that a fragment cut off is said to be missing; what comes behind a # is still read", async () => {
		const fields = queryOf(postbackFields({ txnid: "fragment" }));
		// Sent by a client that drops fragments: nothing comes after the macro.
		expect((await callPostback(WEST_KEY, "txnid=cut&s2=#s2#&cid=1")).body).toMatchObject({
			error_code: 1,
			errors: { cid: ["The cid field is required."] },
		});
		expect((await callPostback(WEST_KEY, `s2=%campaign%&s3=100%&${fields}`)).body).toEqual(RECEIVED);
		await expect
			.poll(() => readAll("SELECT s2, s3 FROM conversions WHERE txnid = 'fragment'"), { timeout: 20_000 })
			.toEqual([{ s2: null, s3: "100%" }]);
	});

	test("a key that is unknown, of another kind or broken is invalid, and the ledger says so", async () => {
		const keys = ["platform-key-unknown", "access-key-cpa", "x", "", "%", "%E0%A4%A", "platform-key-west/more", "PLATFORM-KEY-WEST"];
		for (const [at, key] of keys.entries()) {
			expect(await callPostback(key, queryOf(postbackFields({ txnid: `key-${at}` }))), key).toEqual({ status: 200, body: KEY_INVALID });
		}
		for (const at of keys.keys()) {
			expect(await ledgerOf(`key-${at}`)).toMatchObject([{ platform: null, outcome: "unknown_key", answer: JSON.stringify(KEY_INVALID) }]);
		}
	});

	test("the key itself is never kept", async () => {
		await callPostback("platform-key-secret-typo", queryOf(postbackFields({ txnid: "typo" })));
		const rows = await ledgerOf("typo");
		expect(JSON.stringify(rows)).not.toContain("secret-typo");
	});

	test("a closing slash is no part of the key", async () => {
		expect((await callPostback(`${WEST_KEY}/`, queryOf(postbackFields({ txnid: "slash" })))).body).toEqual(RECEIVED);
	});

	test("unknown keys cannot fill the ledger", async () => {
		const count = async () => Number((await readAll("SELECT count(*) AS n FROM postback_intake WHERE outcome = 'unknown_key'"))[0]?.n);
		for (let at = 0; at < MAX_UNKNOWN_PER_MINUTE + 30; at++)
			expect((await callPostback(`platform-key-${at}`, "txnid=flood")).body).toEqual(KEY_INVALID);
		await expect.poll(count, { timeout: 20_000 }).toBeGreaterThan(MAX_UNKNOWN_PER_MINUTE / 2);
		await callPostback(WEST_KEY, queryOf(postbackFields({ txnid: "after-the-flood" })));
		await ledgerOf("after-the-flood");
		// The minute may have turned once on the way.
		expect(await count()).toBeLessThanOrEqual(2 * MAX_UNKNOWN_PER_MINUTE);
	});

	test("what is too large is no 413: HTTP 200 with error_code 1, and nothing but the ledger knows of it", async () => {
		const long = "x".repeat(17 * 1024);
		const tooLarge = { message: "The given data was invalid.", errors: { request: [expect.stringContaining("at most")] }, error_code: 1 };
		const fields = postbackFields({ txnid: "large" });
		expect(await callPostback(WEST_KEY, queryOf({ ...fields, s2: long }))).toEqual({ status: 200, body: tooLarge });
		expect(await callPostback(WEST_KEY, "", { method: "POST", body: new URLSearchParams({ ...fields, s2: long }) })).toEqual({
			status: 200,
			body: tooLarge,
		});
		const stream = new ReadableStream({
			start(controller) {
				for (let part = 0; part < 20; part++) controller.enqueue(new TextEncoder().encode("x".repeat(1024)));
				controller.close();
			},
		});
		expect(await callPostback(WEST_KEY, queryOf(fields), { method: "POST", body: stream })).toEqual({ status: 200, body: tooLarge });
		const rows = () => readAll("SELECT txnid FROM postback_intake WHERE answer LIKE '%at most 16384%' ORDER BY id");
		await expect.poll(rows, { timeout: 20_000 }).toHaveLength(3);
		// A trace finds it by what its query says; nobody has read the form.
		expect(await rows()).toEqual([{ txnid: "large" }, { txnid: null }, { txnid: "large" }]);
		expect(await readAll("SELECT * FROM conversions WHERE txnid = 'large'")).toEqual([]);
	});

	test("of a query that is too large, an id in which it is cut off is no id of the ledger", async () => {
		const { txnid: _, ...fields } = postbackFields({ cid: "cut-off", txnid: "" });
		const query = `${queryOf(fields)}&s2=`;
		const filled = query + "x".repeat(MAX_QUERY_BYTES - query.length - "&txnid=sale-1".length);
		expect(await callPostback(WEST_KEY, `${filled}&txnid=sale-12`)).toMatchObject({ body: { error_code: 1 } });
		const rows = () => readAll("SELECT txnid FROM postback_intake WHERE cid = 'cut-off'");
		await expect.poll(rows, { timeout: 20_000 }).toEqual([{ txnid: null }]);
	});

	test("a form of escapes makes no longer row of the ledger than what is read", async () => {
		const body = `s2=${"\u0001".repeat(16_000)}`;
		expect((await callPostback(WEST_KEY, queryOf(postbackFields({ txnid: "escapes" })), { method: "POST", body })).body).toEqual(RECEIVED);
		const [row] = await ledgerOf("escapes");
		expect(String(row?.query).length).toBeGreaterThan(16_000);
		expect(String(row?.query).length).toBeLessThanOrEqual(32 * 1024);
	});

	test("an overlong landing URL is cut, not refused", async () => {
		const surl = `https://shop.example/${"p".repeat(5_000)}`;
		expect((await callPostback(WEST_KEY, queryOf(postbackFields({ txnid: "long-url", surl })))).body).toEqual(RECEIVED);
		await expect
			.poll(() => readAll("SELECT length(surl) AS n FROM conversions WHERE txnid = 'long-url'"), { timeout: 20_000 })
			.toEqual([{ n: 2_000 }]);
	});

	test.each(["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s reports nothing: 405", async (method) => {
		const response = await exports.default.fetch(
			`https://base.example/api/postback/${WEST_KEY}?${queryOf(postbackFields({ txnid: method }))}`,
			{ method },
		);
		expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, POST"]);
	});

	test("a broken multipart body says nothing, and its fields are missing", async () => {
		const init = { method: "POST", headers: { "content-type": "multipart/form-data; boundary=x" }, body: "no multipart at all" };
		expect((await callPostback(WEST_KEY, "txnid=broken", init)).body).toMatchObject({
			error_code: 1,
			errors: { cid: ["The cid field is required."] },
		});
	});

	describe("where the queue fails", () => {
		const brokenQueue = {
			send: () => Promise.reject(new Error("queue away")),
			sendBatch: () => Promise.reject(new Error("queue away")),
		} as unknown as Queue;

		async function callWith(changes: object, txnid: string, key = WEST_KEY, fields: Fields = {}) {
			const ctx = createExecutionContext();
			const answer = await answerWith(ctx, changes, txnid, key, fields);
			await waitOnExecutionContext(ctx);
			return answer;
		}

		/** The answer alone, whatever goes on behind it. */
		async function answerWith(ctx: ExecutionContext, changes: object, txnid: string, key = WEST_KEY, fields: Fields = {}) {
			vi.spyOn(console, "error").mockImplementation(() => {});
			const request = new Request(`https://base.example/api/postback/${key}?${queryOf(postbackFields({ txnid, ...fields }))}`);
			const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], { ...env, ...changes }, ctx);
			return [response.status, await response.json()];
		}

		test("the database takes the postback before success is said", async () => {
			expect(await callWith({ POSTBACKS: brokenQueue }, "no-queue")).toEqual([200, RECEIVED]);
			expect(await readAll("SELECT stage FROM conversions WHERE txnid = 'no-queue'")).toEqual([{ stage: "waiting" }]);
			expect(await ledgerOf("no-queue")).toMatchObject([{ outcome: "accepted" }]);
		});

		test("and the database too: something went wrong, error_code 2, and nothing is half written", async () => {
			const brokenWrites = new Proxy(env.DB, {
				get(target, name) {
					if (name === "batch") return () => Promise.reject(new Error("D1_ERROR: away"));
					const value: unknown = Reflect.get(target, name);
					return typeof value === "function" ? value.bind(target) : value;
				},
			});
			expect(await callWith({ POSTBACKS: brokenQueue, DB: brokenWrites, POSTGRES: undefined }, "nowhere")).toEqual([
				200,
				{ message: "something went wrong", error_code: 2 },
			]);
			expect(await readAll("SELECT * FROM conversions WHERE txnid = 'nowhere'")).toEqual([]);
			expect(await readAll("SELECT * FROM postback_intake WHERE txnid = 'nowhere'")).toEqual([]);
		});

		const away = {
			prepare: () => {
				throw new Error("D1_ERROR: away");
			},
			batch: () => Promise.reject(new Error("D1_ERROR: away")),
		};

		test("and keys cannot be looked up: a failure, not an invalid key", async () => {
			expect(await callWith({ DB: away, POSTGRES: undefined, POSTBACKS: brokenQueue }, "no-keys")).toEqual([
				200,
				{ message: "something went wrong", error_code: 2 },
			]);
		});

		describe("keys cannot be looked up, but the queue takes messages", () => {
			async function take(txnid: string, key = WEST_KEY, fields: Fields = {}): Promise<[unknown, unknown[]]> {
				const sent: unknown[] = [];
				const queue = { send: async (message: unknown) => void sent.push(message) };
				const [, body] = await callWith({ DB: away, POSTGRES: undefined, POSTBACKS: queue }, txnid, key, fields);
				return [body, sent];
			}

			async function settle(messages: readonly unknown[], changes: object = {}) {
				const batch = messages.map((body) => ({ id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body }));
				const ctx = createExecutionContext();
				const made = createMessageBatch("clickbourse-postbacks", batch);
				await worker.queue(made, { ...env, ...changes }, ctx);
				return getQueueResult(made, ctx);
			}

			test("the postback is taken, and settled for its platform once the database answers", async () => {
				const [body, sent] = await take("unclaimed-1");
				expect(body).toEqual(RECEIVED);
				expect(JSON.stringify(sent)).not.toContain(WEST_KEY);
				expect(await settle(sent, { DB: away, POSTGRES: undefined })).toMatchObject({ retryMessages: [{}], explicitAcks: [] });
				expect(await settle(sent)).toMatchObject({ retryMessages: [] });
				expect(await settle(sent)).toMatchObject({ retryMessages: [] });
				expect(await readAll("SELECT platform, stage FROM conversions WHERE txnid = 'unclaimed-1'")).toEqual([
					{ platform: "west", stage: "waiting" },
				]);
				expect(await ledgerOf("unclaimed-1")).toMatchObject([{ outcome: "accepted", platform: "west" }]);
			});

			test("nor does the database answer at all: the platform is not kept waiting for it", async () => {
				const silence = Promise.withResolvers<never>();
				const wait = () => silence.promise;
				const silent = { bind: () => silent, raw: wait, all: wait, run: wait, first: wait };
				const sent: unknown[] = [];
				const queue = { send: async (message: unknown) => void sent.push(message) };
				const hanging = { prepare: () => silent, batch: wait };
				const ctx = createExecutionContext();
				const ask = () => answerWith(ctx, { DB: hanging, POSTGRES: undefined, POSTBACKS: queue }, "unclaimed-silent");
				const [answer, seconds] = await timed(ask, 150);
				expect([answer, seconds < 4]).toEqual([[200, RECEIVED], true]);
				expect(sent).toMatchObject([{ kind: "unclaimed" }]);
				silence.reject(new Error("D1_ERROR: away"));
				await waitOnExecutionContext(ctx);
			});

			test("one with a key that is none is never settled", async () => {
				const [, sent] = await take("unclaimed-2", "not-a-key-of-anybody");
				await settle(sent);
				expect(await readAll("SELECT * FROM conversions WHERE txnid = 'unclaimed-2'")).toEqual([]);
				expect(await ledgerOf("unclaimed-2")).toMatchObject([{ outcome: "unknown_key", platform: null }]);
			});

			test("one whose fields are at fault is refused as ever", async () => {
				const [body, sent] = await take("unclaimed-3", WEST_KEY, { payout: "a lot" });
				expect([body, sent]).toMatchObject([{ error_code: 1, errors: { payout: [expect.any(String)] } }, []]);
			});
		});
	});
});
