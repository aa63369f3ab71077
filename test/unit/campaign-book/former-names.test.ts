/** Names that a rotation replaced: valid to the millisecond of their end, whatever version of the code wrote or reads the manifest. */
import { describe, expect, it } from "vitest";
import type { PublisherWire } from "../../../src/campaign-book/format.ts";
import { type BookSnapshot, CampaignBook, findByOpenRtbIdentity, findByPublisherId } from "../../../src/campaign-book/load.ts";
import { ACME, memoryBook } from "../../support/memory-book.ts";

const END = 1_000_000;
const ROTATED: PublisherWire = {
	...ACME,
	former: [
		{ n: "identity", v: "acme_old", u: END },
		{ n: "pubi", v: "0999", u: END },
	],
};

async function snapshotOf(publisher: PublisherWire): Promise<BookSnapshot> {
	const snapshot = await new CampaignBook(memoryBook({}, [publisher]), { snapshotTtlMs: 15_000 }).snapshot(0, () => {});
	if (snapshot === null) throw new Error("no book");
	return snapshot;
}

describe("unit: names that were replaced", () => {
	it("are valid until their end, beside the present ones", async () => {
		const snapshot = await snapshotOf(ROTATED);
		for (const now of [0, END - 1, END, END + 1]) {
			const expected = now < END ? "acme" : undefined;
			expect(findByOpenRtbIdentity(snapshot, "acme_old", now)?.id).toBe(expected);
			expect(findByPublisherId(snapshot, "0999", now)?.id).toBe(expected);
			expect(findByOpenRtbIdentity(snapshot, "acme_rtb", now)?.id).toBe("acme");
			expect(findByPublisherId(snapshot, "1001", now)?.id).toBe("acme");
		}
	});

	it("are each for their own endpoint, and only where it is enabled", async () => {
		const snapshot = await snapshotOf(ROTATED);
		expect(findByOpenRtbIdentity(snapshot, "0999", 0)).toBeUndefined();
		expect(findByPublisherId(snapshot, "acme_old", 0)).toBeUndefined();
		const { pubi: _pubi, rtb: _rtb, ...disabled } = ROTATED;
		expect(findByOpenRtbIdentity(await snapshotOf(disabled), "acme_old", 0)).toBeUndefined();
		expect(findByPublisherId(await snapshotOf(disabled), "0999", 0)).toBeUndefined();
	});

	it("a bid under a former identity is that identity's; its clicks find the publisher for ever", async () => {
		const snapshot = await snapshotOf(ROTATED);
		expect(findByOpenRtbIdentity(snapshot, "acme_old", 0)).toMatchObject({ identity: "acme_old", sharePpm: ACME.share });
		expect(snapshot.byIdentity.get("acme_old")).toMatchObject({ id: "acme", sharePpm: ACME.share });
	});

	it("a manifest of code that does not know them is read as ever", async () => {
		const snapshot = await snapshotOf(ACME);
		expect(findByOpenRtbIdentity(snapshot, "acme_rtb", 0)?.id).toBe("acme");
		expect(findByOpenRtbIdentity(snapshot, "acme_old", 0)).toBeUndefined();
	});
});
