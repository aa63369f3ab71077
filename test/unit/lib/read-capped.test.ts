import { describe, expect, it } from "vitest";
import { readCapped } from "../../../src/lib/read-capped.ts";

/** A stream of these chunks, and what became of it. */
function streamOf(...chunks: number[][]) {
	const seen = { pulled: 0, cancelled: false };
	const stream = new ReadableStream<Uint8Array>(
		{
			pull(controller) {
				const chunk = chunks[seen.pulled++];
				if (chunk === undefined) controller.close();
				else controller.enqueue(Uint8Array.from(chunk));
			},
			cancel() {
				seen.cancelled = true;
			},
		},
		{ highWaterMark: 0 },
	);
	return { stream, seen };
}

describe("unit: readCapped", () => {
	it("puts the chunks of a stream together, up to the cap itself", async () => {
		const { stream } = streamOf([1, 2], [], [3]);
		expect(await readCapped(stream, 3)).toEqual(Uint8Array.of(1, 2, 3));
	});

	it("one byte more: null, and the rest is not read", async () => {
		const { stream, seen } = streamOf([1, 2], [3, 4], [5]);
		expect(await readCapped(stream, 3)).toBeNull();
		expect(seen).toEqual({ pulled: 2, cancelled: true });
	});

	it("no stream holds no bytes", async () => {
		expect(await readCapped(null, 0)).toEqual(new Uint8Array());
	});

	it("rejects with what the stream fails with", async () => {
		const stream = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new TypeError("gone")) });
		await expect(readCapped(stream, 3)).rejects.toThrow("gone");
	});
});
