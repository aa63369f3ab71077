import { Hono } from "hono";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { answerHttpError } from "../../../src/http/errors.ts";
import { limitBody, readBody, readInput, type Telling } from "../../../src/http/read-input.ts";
import { HttpError } from "../../../src/lib/http.ts";
import { parseJson } from "../../../src/lib/json.ts";

const schema = v.object({
	name: v.pipe(v.string(), v.nonEmpty("must not be blank"), v.regex(/^a/, "must begin with a")),
	campaigns: v.array(v.object({ id: v.number() })),
});

/** The faults of an input. */
function faultsOf(input: unknown, telling?: Telling): unknown {
	try {
		readInput(schema, input, telling);
	} catch (error) {
		if (error instanceof HttpError && error.status === 422) return error.body.faults;
		throw error;
	}
	return [];
}

describe("unit: reading an input by a schema", () => {
	it("gives what the schema makes of it", () => {
		expect(readInput(schema, { name: "a", campaigns: [], other: 1 })).toEqual({ name: "a", campaigns: [] });
	});

	it("names the place of each fault, once, and says what was expected but never what was received", () => {
		expect(faultsOf({ name: "", campaigns: [{ id: 1 }, { id: "secret" }] })).toEqual([
			{ path: "name", message: "must not be blank" },
			{ path: "campaigns[1].id", message: "must be a number" },
		]);
		expect(faultsOf(undefined)).toEqual([{ path: "", message: "must be an object" }]);
	});

	it("says of a field that is missing that it is required, and names no type of JavaScript", () => {
		expect(faultsOf({ campaigns: {} })).toEqual([
			{ path: "name", message: "is required" },
			{ path: "campaigns", message: "must be a list" },
		]);
		const closed = v.strictObject({ import: v.string("must be the id of an import"), yes: v.boolean(), text: v.string() });
		expect(() => readInput(closed, { yes: 1, text: 1, no: 1 })).toThrow(
			expect.objectContaining({
				body: expect.objectContaining({
					faults: [
						{ path: "import", message: "is required" },
						{ path: "yes", message: "must be true or false" },
						{ path: "text", message: "must be a text" },
						{ path: "no", message: "is not a known field; did you mean `yes`?" },
					],
				}),
			}),
		);
	});

	it("names the nearest field of what stands inside: of objects that may be left out, of lists, of either of two ways, and in JSON", () => {
		const rule = v.union([v.literal("off"), v.strictObject({ minutes: v.number() })]);
		const closed = v.strictObject({
			chain: v.nullish(v.strictObject({ parties: v.optional(v.array(v.strictObject({ asi: v.string() }))) })),
			rules: v.optional(
				v.pipe(v.strictObject({ repeat: v.optional(rule), velocity: v.optional(rule) }, "must be rules"), v.transform(String)),
			),
			mapping: v.optional(
				v.pipe(
					v.string(),
					v.transform(parseJson),
					v.strictObject({ txnid: v.optional(v.string()), payout: v.optional(v.string()), status: v.optional(v.string()) }),
				),
			),
		});
		const told = (input: unknown) => {
			expect(() => readInput(closed, input)).toThrow(HttpError);
			try {
				readInput(closed, input);
			} catch (error) {
				return error instanceof HttpError ? error.body.faults : error;
			}
		};
		expect(told({ chain: { parties: [{ asi: "a", aso: "b" }], partys: [] } })).toEqual([
			{ path: "chain.parties[0].aso", message: "is not a known field; did you mean `asi`?" },
			{ path: "chain.partys", message: "is not a known field; did you mean `parties`?" },
		]);
		expect(told({ rules: { repeet: "off" } })).toEqual([{ path: "rules.repeet", message: "must be rules; did you mean `repeat`?" }]);
		expect(told({ mapping: '{"txnid":"id","pyout":"fee","statsu":"state"}' })).toEqual([
			{ path: "mapping.pyout", message: "is not a known field; did you mean `payout`?" },
			{ path: "mapping.statsu", message: "is not a known field; did you mean `status`?" },
		]);
	});

	it("names every unknown field, not the first alone, and of one of several ways the fields of that way", () => {
		const closed = v.variant("kind", [
			v.strictObject({ kind: v.literal("clicks"), publisher: v.optional(v.string()), text: v.string() }),
			v.strictObject({ kind: v.picklist(["void", "restore"]), platform: v.string(), txnid: v.string(), text: v.string() }),
		]);
		const told = (reading: v.GenericSchema, input: unknown) => {
			try {
				readInput(reading, input);
			} catch (error) {
				return error instanceof HttpError ? error.body.faults : error;
			}
		};
		expect(told(closed, { kind: "clicks", platform: "n", publishr: "p", text: "t" })).toEqual([
			{ path: "platform", message: "is not a known field; did you mean `publisher`?" },
			{ path: "publishr", message: "is not a known field; did you mean `publisher`?" },
		]);
		expect(told(v.object({ list: v.array(closed) }), { list: [{ kind: "void", platform: "n", txid: "1", texd: "", text: "t" }] })).toEqual([
			{ path: "list[0].txnid", message: "is required" },
			{ path: "list[0].txid", message: "is not a known field; did you mean `txnid`?" },
			{ path: "list[0].texd", message: "is not a known field; did you mean `text`?" },
		]);
		expect(told(v.strictObject({}), { a: "1", b: "2" })).toEqual([
			{ path: "a", message: "is not a known field" },
			{ path: "b", message: "is not a known field" },
		]);
		const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x${at}`, at]));
		expect(told(v.strictObject({ a: v.optional(v.string()) }), many)).toHaveLength(100);
	});

	it("may be told in other words, or as one fault that stands for all", () => {
		expect(faultsOf({ campaigns: [] }, ({ received }) => `was ${received}`)).toEqual([{ path: "name", message: "was undefined" }]);
		expect(faultsOf({}, { path: "id", message: "must be an id" })).toEqual([{ path: "id", message: "must be an id" }]);
	});
});

describe("unit: reading a body", () => {
	const app = new Hono();
	app.onError(answerHttpError);
	app.post("/small", limitBody(10), async (c) => c.json(await readBody(c.req.raw, v.object({ a: v.number() }))));
	app.post("/named", limitBody(10, "Payload too large"), async (c) => c.text(await c.req.text()));

	async function post(path: string, body: string | ReadableStream<Uint8Array>) {
		const length: Record<string, string> = typeof body === "string" ? { "content-length": String(body.length) } : {};
		const init = { method: "POST", body, headers: length, duplex: "half" };
		const response = await app.request(path, init as RequestInit);
		return { status: response.status, body: await response.json() };
	}

	it.each([
		["{", "is not JSON: must be an object in JSON"],
		["a=1", "is not JSON: must be an object in JSON"],
		["", "is not JSON: must be an object in JSON"],
		["[]", "must be an object"],
		["1", "must be an object"],
	])("as JSON, and says what else is none, or no object: %j", async (body, message) => {
		expect(await post("/small", '{"a":1}')).toEqual({ status: 200, body: { a: 1 } });
		expect(await post("/small", body)).toEqual({
			status: 422,
			body: { error: "Validation failed", faults: [{ path: "", message }], fault_count: 1 },
		});
	});

	it("up to its cap: 413 beyond, whether its length is told or not", async () => {
		const tooLarge = { status: 413, body: { error: "The body may hold at most 10 bytes" } };
		expect(await post("/small", '{"a":1234}')).toEqual({ status: 200, body: { a: 1234 } });
		expect(await post("/small", '{"a":12345}')).toEqual(tooLarge);
		expect(await post("/small", new Blob(['{"a":12345}']).stream())).toEqual(tooLarge);
		expect(await post("/named", '{"a":12345}')).toEqual({ status: 413, body: { error: "Payload too large" } });
	});
});
