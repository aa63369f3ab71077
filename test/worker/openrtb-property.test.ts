/** What holds of every body whatever, sent to the real Worker. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readBidRequest } from "../../src/openrtb/read-request.ts";
import { jsonish, mutatedLaterRequest, mutatedRequest, rephrase, soundRequest } from "../support/bid-arbitraries.ts";
import type { JsonObject } from "../support/bid-requests.ts";
import { findClickUrl } from "../support/golden/normalise.ts";
import { gzip } from "../support/gzip.ts";
import { DEFAULT_NOW, loadTestNetwork, setNow } from "../support/load-network.ts";
import { chunked, postBid, readVerdict } from "../support/post-bid.ts";

beforeAll(async () => {
	await loadTestNetwork();
	setNow(DEFAULT_NOW);
});
afterAll(() => {
	vi.useRealTimers();
});

const encoder = new TextEncoder();
const KNOWN_STATUSES = [200, 204, 400, 413];

/** Every answer has a status of the interface and the shape that goes with it. */
async function expectSoundAnswer(response: Response, sent: string | null): Promise<void> {
	const text = await response.text();
	expect(KNOWN_STATUSES, text).toContain(response.status);
	expect(response.headers.get("x-openrtb-version")).toBe("2.5");
	expect(response.headers.get("content-type")).toBe(response.status === 204 ? null : "application/json");
	if (response.status === 204) {
		expect(text).toBe("");
		return;
	}
	const body = JSON.parse(text);
	if (response.status === 200) expect(body.id).toBe(JSON.parse(sent ?? "null").id);
	else expect(body).toEqual({ error: expect.any(String) });
}

describe("worker: no body whatever gets a 5xx", () => {
	test("requests with fields replaced by anything", async () => {
		await fc.assert(
			fc.asyncProperty(mutatedRequest, async (request) => {
				const sent = JSON.stringify(request);
				await expectSoundAnswer(await postBid(sent), sent);
			}),
			{ numRuns: 800 },
		);
	});

	test("requests of 2.6 with fields replaced by anything, of publishers whose requests are read for more", async () => {
		const identity = fc.constantFrom("acme_rtb", "options_rtb", "chain_rtb", "full_rtb");
		let fills = 0;
		await fc.assert(
			fc.asyncProperty(mutatedLaterRequest, identity, async (request, path) => {
				const sent = JSON.stringify(request);
				const response = await postBid(sent, {}, `http://rtb.example/openrtb/${path}`);
				if (response.status === 200) fills++;
				await expectSoundAnswer(response, sent);
			}),
			{ numRuns: 800 },
		);
		expect(fills).toBeGreaterThan(100);
	});

	test("a field that is sent twice counts as sent last", async () => {
		const url = "http://rtb.example/openrtb/options_rtb";
		const twice = (first: string, last: string) =>
			postBid(`{"id":"a","imp":[{"id":"1"}],"site":{"domain":"shoes.example"},"bcat":${first},"bcat":${last}}`, {}, url);
		expect((await twice('["IAB1"]', '["IAB22"]')).status).toBe(204);
		expect((await twice('["IAB22"]', '["IAB1"]')).status).toBe(200);
	});

	test("text that looks like JSON, is cut, or nests very deep", async () => {
		await fc.assert(
			fc.asyncProperty(jsonish, async (sent) => expectSoundAnswer(await postBid(sent), sent)),
			{ numRuns: 400 },
		);
	});

	test("bytes of any kind, with and without the magic bytes of gzip", async () => {
		const bytes = fc.tuple(fc.constantFrom([], [0x1f, 0x8b], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]), fc.uint8Array({ maxLength: 300 }));
		await fc.assert(
			fc.asyncProperty(bytes, fc.boolean(), async ([start, rest], inChunks) => {
				const body = new Uint8Array([...start, ...rest]);
				await expectSoundAnswer(await postBid(inChunks ? chunked(body, 50) : body), null);
			}),
			{ numRuns: 300 },
		);
	});

	test("a gzip body with any byte altered", async () => {
		const whole = await gzip('{"id":"auction-1","imp":[{"id":"imp-1"}],"site":{"domain":"shoes.example"}}');
		for (let at = 0; at < whole.length; at++) {
			const altered = whole.slice();
			altered[at] = (altered[at] ?? 0) ^ 0x55;
			const response = await postBid(altered);
			expect(KNOWN_STATUSES, `byte ${at}`).toContain(response.status);
			await response.body?.cancel();
		}
	});

	test("any path below /openrtb/, and any header", async () => {
		const segment = fc.oneof(
			fc.string({ unit: "binary" }).map((text) => encodeURIComponent(text.toWellFormed())),
			fc.stringMatching(/^[%0-9a-zA-Z._~!$&'()*+,;=:@/-]{0,80}$/),
		);
		const header = fc.stringMatching(/^[\x20-\x7e]{0,30}$/);
		await fc.assert(
			fc.asyncProperty(segment, header, async (path, value) => {
				const url = `http://rtb.example/openrtb/${path}`;
				// What a URL parser takes out of these paths is another path.
				if (!new URL(url).pathname.startsWith("/openrtb/")) return;
				const response = await postBid("{}", { "content-type": value, "content-encoding": value, accept: value }, url);
				expect([400, 204]).toContain(response.status);
				expect(response.headers.get("x-openrtb-version")).toBe("2.5");
				await response.body?.cancel();
			}),
			{ numRuns: 400 },
		);
	});
});

describe("worker: a fill", () => {
	test("never goes under a floor, nor to nothing, and holds what it says in its token", async () => {
		let fills = 0;
		await fc.assert(
			fc.asyncProperty(soundRequest, async (request) => {
				const verdict = await readVerdict(await postBid(JSON.stringify(request)));
				if (verdict.status !== 200) return;
				fills++;
				const floor = readBidRequest(request)?.floor;
				const token = verdict.token as { bidMicros: number; test: boolean };
				const { price } = (verdict.body as { seatbid: [{ bid: [{ price: number }] }] }).seatbid[0].bid[0];
				expect(token.test).toBe(request.test === 1);
				expect(token.bidMicros).toBe(Math.round(price * 1_000_000));
				if (request.test === 1) expect(price).toBe(0);
				else expect(price).toBeGreaterThan(0);
				// A test bid shows no price; without the flag the same auction shows the one it cleared with.
				const real = request.test === 1 ? await readVerdict(await postBid(JSON.stringify({ ...request, test: 0 }))) : verdict;
				const { price: cleared } = (real.body as { seatbid: [{ bid: [{ price: number }] }] }).seatbid[0].bid[0];
				if (floor?.kind === "usd") expect(cleared).toBeGreaterThanOrEqual(floor.amount);
				else expect(floor?.kind).toBe("none");
			}),
			// A fifth of them bid: of fewer, some day no hundred would.
			{ numRuns: 1_000 },
		);
		expect(fills).toBeGreaterThan(100);
	});
});

describe("worker: a click URL", () => {
	test("is its own auction's: token, rtuli and bid id are new in each answer", async () => {
		const seen: string[] = [];
		for (let i = 0; i < 200; i++) {
			const body = await (await postBid('{"id":"auction-1","imp":[{"id":"imp-1"}],"site":{"domain":"shoes.example"}}')).json<{
				bidid: string;
			}>();
			const url = new URL(findClickUrl(body) ?? "");
			seen.push(body.bidid, url.searchParams.get("rtuli") ?? "", url.searchParams.get("encyp") ?? "");
		}
		expect(new Set(seen).size).toBe(600);
	});
});

describe("worker: the verdict does not change", () => {
	async function expectSameVerdict(request: JsonObject, other: BodyInit): Promise<void> {
		const [one, two] = await Promise.all([postBid(JSON.stringify(request)).then(readVerdict), postBid(other).then(readVerdict)]);
		expect(two).toEqual(one);
	}
	const requests = fc.oneof({ weight: 3, arbitrary: soundRequest }, { weight: 1, arbitrary: mutatedRequest });

	test("with the order of keys, unknown fields and added nulls", async () => {
		await fc.assert(
			fc.asyncProperty(requests, fc.infiniteStream(fc.nat()), async (request, stream) => {
				const choose = (below: number) => (stream.next().value ?? 0) % below;
				await expectSameVerdict(request, JSON.stringify(rephrase(request, choose)));
			}),
			{ numRuns: 400 },
		);
	});

	test("with gzip, chunks, or white space", async () => {
		await fc.assert(
			fc.asyncProperty(requests, fc.constantFrom("gzip", "chunks", "spaces"), async (request, how) => {
				const text = JSON.stringify(request);
				const other =
					how === "gzip"
						? await gzip(text)
						: how === "chunks"
							? chunked(encoder.encode(text), 9)
							: JSON.stringify(request, null, "\t\r\n ");
				await expectSameVerdict(request, other);
			}),
			{ numRuns: 300 },
		);
	});

	test("with time, while no hour changes: the same request gets the same answer twice", async () => {
		await fc.assert(
			fc.asyncProperty(requests, async (request) => expectSameVerdict(request, JSON.stringify(request))),
			{ numRuns: 100 },
		);
	});
});
