/** What the CLI says of what a server refuses or cannot do. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Failure } from "../../../scripts/local/failure.ts";
import { namesOf, parametersOf } from "../../../scripts/operator/option-names.ts";
import { type Telling, take } from "../../../scripts/operator/take-answer.ts";

const schema = v.strictObject({ count: v.number() });
const refused = (...faults: { path: string; message: string }[]) => ({ error: "Validation failed", faults, fault_count: faults.length });

/** The lines of the failure; those of what was taken where there is none. */
function told(status: number, body: unknown, telling?: Telling): string[] {
	try {
		return [JSON.stringify(take(schema, { status, body, etag: null, text: JSON.stringify(body) }, telling))];
	} catch (error) {
		if (!(error instanceof Failure)) throw error;
		return error.message.split("\n");
	}
}

const HELD = { error: "The network database is being moved: operator database move" };
const STANDS = { stands: "Give the command again." };

describe("unit: answers that a command takes or tells of", () => {
	it("200 is read by the schema, without what a newer server has added", () => {
		expect(told(200, { count: 2, more: true })).toEqual(['{"count":2}']);
	});

	it("422 names the options as they are typed, the rest as the server does, and what lists what is not there", () => {
		const body = refused(
			{ path: "address_prefix", message: "must be an address" },
			{ path: "publisher", message: "is no publisher's id" },
			{ path: "by.click", message: "is no click" },
			{ path: "mapping.txnid", message: "is no column" },
			{ path: "campaigns[1]", message: "is no campaign's id" },
			{ path: "adjustment", message: "is undone already" },
			{ path: "", message: "must name clicks" },
		);
		const names = { ...namesOf(["addressPrefix", "publisher", "mapping", "campaigns"]), "by.click": "--click" };
		expect(told(422, body, { names, ...STANDS })).toEqual([
			"The server refused, and nothing was changed:",
			"  --address-prefix: must be an address",
			"  --publisher: is no publisher's id",
			"  --click: is no click",
			"  --mapping txnid: is no column",
			"  --campaigns [1]: is no campaign's id",
			"  adjustment: is undone already",
			"  the request: must name clicks",
			"`list publishers` shows those there are.",
			"`list campaigns` shows those there are.",
		]);
	});

	it("422 says how many faults are not listed, and what to do about those that are", () => {
		const body = { ...refused({ path: "x", message: "is wrong" }), fault_count: 3 };
		const advise = (faults: readonly { path: string }[]) => [`Mend ${faults.map(({ path }) => path)}.`];
		expect(told(422, body, { advise }).slice(1)).toEqual(["  x: is wrong", "  … and 2 more", "Mend x."]);
	});

	it.each([
		[412, { error: "Conflict", message: "It is granted." }, "It is granted."],
		[412, { error: "no move is under way" }, "no move is under way"],
		[412, { error: "Conflict", message: "The id is of another." }, "The id is of another."],
		[503, HELD, HELD.error],
	])("HTTP %d is told in the server's words", (status, body, said) => {
		expect(told(status, body, STANDS)).toEqual([`The server refused, and nothing was changed: ${said}`]);
	});

	it("413 says to send less, or how", () => {
		const error = "The body may hold at most 16384 bytes";
		const head = `The server refused, and nothing was changed: ${error}`;
		expect(told(413, { error })).toEqual([head, "Send less at once."]);
		expect(told(413, { error }, { less: "Split the file." })).toEqual([head, "Split the file."]);
	});

	it("a refusal of a later part says that nothing more was changed, and what stands", () => {
		const begun = { ...STANDS, isBegun: true };
		const head = "The server refused, and nothing more was changed:";
		expect(told(503, HELD, begun)).toEqual([`${head} ${HELD.error}`, STANDS.stands]);
		expect(told(422, refused({ path: "x", message: "is wrong" }), begun)).toEqual([head, "  x: is wrong", STANDS.stands]);
		expect(told(412, { error: "it was cancelled meanwhile" }, begun)).toEqual([`${head} it was cancelled meanwhile`]);
	});

	it.each([
		[500, { error: "Internal error" }],
		[429, { error: "Too many requests" }],
		[503, []],
	])("HTTP %d without a known reason is shown as it is, with what to do: %j", (status, body) => {
		const head = `The server answered HTTP ${status} ${JSON.stringify(body)}`;
		expect(told(status, body)).toEqual([head, "See the server's log."]);
		expect(told(status, body, STANDS)).toEqual([head, STANDS.stands]);
	});
});

describe("unit: options and the parameters that they are sent as", () => {
	it("those that are given are sent, under names of the wire", () => {
		const options = ["addressPrefix", "source", "from"] as const;
		expect(parametersOf(options, { addressPrefix: "203.0.113.0/24", source: "" })).toEqual({
			address_prefix: "203.0.113.0/24",
			source: "",
		});
		expect(namesOf(options)).toEqual({ address_prefix: "--address-prefix", source: "--source", from: "--from" });
	});
});
