import { describe, expect, it } from "vitest";
import { ofSegment, segmentOf } from "../../../src/lib/path-segment.ts";

describe("unit: ids in paths", () => {
	it.each(["T-1", "a/b", "a b", ".", "..", "...", ".a", "%2E", "%2e%2E", "a.", "é"])(
		"%j stands in a URL as one segment, and is read back",
		(id) => {
			const { pathname } = new URL(`/all/${segmentOf(id)}/void`, "https://base.example");
			const segments = pathname.split("/").map(decodeURIComponent);
			expect([segments.length, ofSegment(segments[2] ?? "")]).toEqual([4, id]);
		},
	);
});
