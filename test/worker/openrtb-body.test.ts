/** Bid request bodies: their size and their compression. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { MAX_BODY_BYTES, MAX_UNCOUNTED_BYTES, MAX_VALUES } from "../../src/openrtb/body-limits.ts";
import { gzip } from "../support/gzip.ts";
import { DEFAULT_NOW, loadTestNetwork, setNow } from "../support/load-network.ts";
import { chunked, postBid } from "../support/post-bid.ts";
import { readBody } from "../support/read-body.ts";

beforeAll(async () => {
	await loadTestNetwork();
	setNow(DEFAULT_NOW);
});
afterAll(() => {
	vi.useRealTimers();
});

const encoder = new TextEncoder();

/** A request that bids, filled up to exactly so many bytes. Random text, so that it stays long when it is compressed. */
function requestOf(bytes: number, filler: "random" | "same" = "same"): Uint8Array {
	const [before, after] = ['{"id":"auction-1","x":"', '","imp":[{"id":"imp-1"}],"site":{"domain":"shoes.example"}}'];
	const size = bytes - before.length - after.length;
	const text = filler === "same" ? "x".repeat(size) : randomText(size);
	return encoder.encode(before + text + after);
}

function randomText(size: number): string {
	let text = "";
	while (text.length < size) {
		const random = crypto.getRandomValues(new Uint8Array(32_768));
		text += btoa(String.fromCharCode(...random));
	}
	return text.slice(0, size);
}

async function expectBid(response: Response): Promise<void> {
	expect(response.status).toBe(200);
	expect(await response.json()).toMatchObject({ id: "auction-1", cur: "USD" });
}

async function expectError(response: Response, status: number, error: string | RegExp): Promise<void> {
	expect(response.status).toBe(status);
	expect(response.headers.get("content-type")).toBe("application/json");
	expect(response.headers.get("x-openrtb-version")).toBe("2.5");
	expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
}

const INVALID = /^Invalid OpenRTB bid request$/;

test("worker: the cap is 128 KiB", () => {
	expect(MAX_BODY_BYTES).toBe(131_072);
});

describe("worker: a body of exactly the cap bids", () => {
	test("plain", async () => expectBid(await postBid(requestOf(MAX_BODY_BYTES))));
	test("plain, in chunks without Content-Length", async () => expectBid(await postBid(chunked(requestOf(MAX_BODY_BYTES)))));
	test("gzip", async () => expectBid(await postBid(await gzip(requestOf(MAX_BODY_BYTES)), { "content-encoding": "gzip" })));
	test("gzip, in chunks", async () => expectBid(await postBid(chunked(await gzip(requestOf(MAX_BODY_BYTES)), 100))));
	test("gzip that compresses badly", async () => expectBid(await postBid(await gzip(requestOf(MAX_BODY_BYTES, "random")))));
});

describe("worker: a body of one byte more is 413, with an error", () => {
	const error = /131072/;
	test("plain", async () => expectError(await postBid(requestOf(MAX_BODY_BYTES + 1)), 413, error));
	test("plain, in chunks without Content-Length", async () =>
		expectError(await postBid(chunked(requestOf(MAX_BODY_BYTES + 1))), 413, error));
	test("gzip", async () =>
		expectError(await postBid(await gzip(requestOf(MAX_BODY_BYTES + 1)), { "content-encoding": "gzip" }), 413, error));
	test("gzip, in chunks", async () => expectError(await postBid(chunked(await gzip(requestOf(MAX_BODY_BYTES + 1)), 100)), 413, error));
	test("gzip that compresses badly", async () =>
		expectError(await postBid(await gzip(requestOf(MAX_BODY_BYTES + 1, "random"))), 413, error));
	test("though it would be invalid anyway", async () => expectError(await postBid("x".repeat(MAX_BODY_BYTES + 1)), 413, error));
});

describe("worker: a body far past the cap is 413 without being read to its end", () => {
	test("plain, of 20 MB", async () => expectError(await postBid(new Uint8Array(20_000_000)), 413, /./));

	test("plain, in endless chunks", async () => {
		let sent = 0;
		const endless = new ReadableStream<Uint8Array>({
			pull(controller) {
				sent += 16_384;
				controller.enqueue(new Uint8Array(16_384).fill(32));
			},
		});
		await expectError(await postBid(endless), 413, /./);
		expect(sent).toBeLessThan(4_000_000);
	});

	test("a gzip bomb of 100 MB in 100 KB is not opened; one that says it holds ten bytes is, and stopped", async () => {
		const bomb = await gzip(new Uint8Array(100_000_000));
		expect(bomb.length).toBeLessThan(MAX_BODY_BYTES);
		const opened = vi.spyOn(globalThis, "DecompressionStream");
		await expectError(await postBid(bomb.slice(), { "content-encoding": "gzip" }), 413, /./);
		expect(opened).not.toHaveBeenCalled();
		new DataView(bomb.buffer, bomb.byteOffset).setUint32(bomb.length - 4, 10, true);
		await expectError(await postBid(bomb), 400, INVALID);
		expect(opened).toHaveBeenCalledOnce();
		vi.restoreAllMocks();
	});

	test("a gzip bomb around a gzip bomb is not opened twice", async () => {
		await expectError(await postBid(await gzip(await gzip(new Uint8Array(50_000_000)))), 400, INVALID);
	});
});

describe("worker: a body over 16 KiB may hold so many names and values", () => {
	/** A request that bids, of at least so many bytes: six names and seven values, and a list that makes them so many. */
	const holding = (count: number, bytes = 20_000) => {
		const body = `{"id":"auction-1","imp":[{"id":"imp-1"}],"site":{"domain":"shoes.example"},"x":[1${",1".repeat(count - 14)}]}`;
		return encoder.encode(body + " ".repeat(Math.max(0, bytes - body.length)));
	};

	test("at most 5,000, and then it bids", async () => {
		expect(MAX_VALUES).toBe(5_000);
		await expectBid(await postBid(holding(MAX_VALUES)));
		await expectBid(await postBid(await gzip(holding(MAX_VALUES))));
	});

	test("one more is 413, with an error", async () => {
		const error = /^The body may hold at most 5000 names and values$/;
		await expectError(await postBid(holding(MAX_VALUES + 1)), 413, error);
		await expectError(await postBid(await gzip(holding(MAX_VALUES + 1))), 413, error);
		await expectError(await postBid(chunked(holding(MAX_VALUES + 1))), 413, error);
	});

	test("a shorter one may hold as many as fit", async () => {
		await expectBid(await postBid(holding(MAX_VALUES + 1, 0)));
		await expectBid(await postBid(holding(MAX_VALUES + 1, MAX_UNCOUNTED_BYTES)));
		await expectError(await postBid(holding(MAX_VALUES + 1, MAX_UNCOUNTED_BYTES + 1)), 413, /5000/);
	});

	test("texts hold none, whatever is in them, but for one every eight escapes", async () => {
		const x = `${'[{,:\\"'.repeat(9_000)}\\`;
		const holdingText = (text: string, list: number) =>
			JSON.stringify({ id: "auction-1", x: text, y: Array(list).fill(1), imp: [{ id: "imp-1" }], site: { domain: "shoes.example" } });
		await expectBid(await postBid(holdingText(x, 1)));
		const escapes = "\n".repeat(24_000);
		await expectBid(await postBid(holdingText(escapes, 1_900)));
		await expectError(await postBid(holdingText(escapes, 2_000)), 413, /5000/);
	});

	test.each(["[", '{"a":', "{}", '"",', "[],"])("nesting and repeating %s is the same refusal, JSON or not", async (unit) => {
		await expectError(await postBid(unit.repeat(Math.floor(MAX_BODY_BYTES / unit.length))), 413, /5000/);
	});
});

describe("worker: a gzip body that cannot be read is 400", () => {
	const whole = () => gzip(requestOf(500));
	const cases: [string, () => Promise<Uint8Array>][] = [
		["cut in its data", async () => (await whole()).slice(0, 60)],
		["without its last byte", async () => (await whole()).slice(0, -1)],
		["without its checksum", async () => (await whole()).slice(0, -8)],
		["only its magic bytes", async () => new Uint8Array([0x1f, 0x8b])],
		["only its header", async () => (await whole()).slice(0, 10)],
		["with a wrong checksum", async () => altered(await whole(), -6)],
		["with altered data", async () => altered(await whole(), 40)],
		["of nothing", () => gzip("")],
		["of something else", () => gzip("not JSON")],
	];
	test.each(cases)("%s", async (_, body) => {
		await expectError(await postBid(await body()), 400, INVALID);
		await expectError(await postBid(chunked(await body(), 7), { "content-encoding": "gzip" }), 400, INVALID);
	});

	function altered(bytes: Uint8Array, at: number): Uint8Array {
		const index = at < 0 ? bytes.length + at : at;
		bytes[index] = (bytes[index] ?? 0) ^ 0xff;
		return bytes;
	}
});

describe("worker: receiving and decoding a body", () => {
	const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
		new Request("http://rtb.example/", { method: "POST", body, headers });

	test("refuses by Content-Length before it reads anything", async () => {
		const untouched = new ReadableStream<Uint8Array>(
			{
				pull() {
					throw new Error("the body was read");
				},
			},
			{ highWaterMark: 0 },
		);
		expect(await readBody(post(untouched, { "content-length": "200000" }))).toEqual({ ok: false, reason: "too_large" });
	});

	test("holds to the cap where Content-Length says less than comes", async () => {
		expect(await readBody(post(requestOf(MAX_BODY_BYTES + 5_000), { "content-length": "10" }))).toMatchObject({ ok: false });
	});

	test("reads an empty body, and none, as empty text", async () => {
		expect(await readBody(post(""))).toEqual({ ok: true, text: "" });
		expect(await readBody(post(null))).toEqual({ ok: true, text: "" });
	});

	test("reads UTF-8 across chunks, and bytes that are no UTF-8 without an error", async () => {
		expect(await readBody(post(chunked(encoder.encode('"äß😀"'), 1)))).toEqual({ ok: true, text: '"äß😀"' });
		expect(await readBody(post(new Uint8Array([0x22, 0xff, 0x22])))).toEqual({ ok: true, text: '"\ufffd"' });
	});
});
