/** Names that a rotation replaced: valid to the millisecond of their end, whatever version of the code wrote or reads the manifest. */
import { describe, expect, it } from "vitest";
import {
	type BookSnapshot,
	CampaignBook,
	findByIdentity,
	findByOpenRtbIdentity,
	findByPublisherId,
} from "../../../src/campaign-book/load.ts";
import type { PublisherWire } from "../../../src/campaign-book/wire.ts";
import { ACME, memoryBook } from "../../support/memory-book.ts";
import { packedBook } from "../../support/packed-book.ts";

const END = 1_000_000;
const ROTATED: PublisherWire = {
	...ACME,
	former: [
		{ n: "identity", v: "acme_old", u: END },
		{ n: "pubi", v: "0999", u: END },
	],
};

const BOOKS = {
	lines: (publisher: PublisherWire) => new CampaignBook(memoryBook({}, [publisher]), { snapshotTtlMs: 15_000 }),
	packed: (publisher: PublisherWire) => {
		const { store, chunks } = packedBook({ entries: new Map(), publishers: [publisher] });
		return new CampaignBook(store, { snapshotTtlMs: 15_000, chunks });
	},
};

describe.each(["lines", "packed"] as const)("unit: names that were replaced, in a book of %s", (format) => {
	async function snapshotOf(publisher: PublisherWire): Promise<BookSnapshot> {
		const snapshot = await BOOKS[format](publisher).snapshot(0, () => {});
		if (snapshot === null) throw new Error("no book");
		return snapshot;
	}

	it("are valid until their end, beside the present ones", async () => {
		const snapshot = await snapshotOf(ROTATED);
		for (const now of [0, END - 1, END, END + 1]) {
			const expected = now < END ? "acme" : undefined;
			expect((await findByOpenRtbIdentity(snapshot, "acme_old", now))?.id).toBe(expected);
			expect((await findByPublisherId(snapshot, "0999", now))?.id).toBe(expected);
			expect((await findByOpenRtbIdentity(snapshot, "acme_rtb", now))?.id).toBe("acme");
			expect((await findByPublisherId(snapshot, "1001", now))?.id).toBe("acme");
		}
	});

	it("are each for their own endpoint, and only where it is enabled", async () => {
		const snapshot = await snapshotOf(ROTATED);
		expect(await findByOpenRtbIdentity(snapshot, "0999", 0)).toBeUndefined();
		expect(await findByPublisherId(snapshot, "acme_old", 0)).toBeUndefined();
		const { pubi: _pubi, rtb: _rtb, ...disabled } = ROTATED;
		expect(await findByOpenRtbIdentity(await snapshotOf(disabled), "acme_old", 0)).toBeUndefined();
		expect(await findByPublisherId(await snapshotOf(disabled), "0999", 0)).toBeUndefined();
	});

	it("a bid under a former identity is that identity's; its clicks find the publisher for ever", async () => {
		const snapshot = await snapshotOf(ROTATED);
		expect(await findByOpenRtbIdentity(snapshot, "acme_old", 0)).toMatchObject({ identity: "acme_old", sharePpm: ACME.share });
		expect(await findByIdentity(snapshot, "acme_old", END + 1)).toMatchObject({ id: "acme", sharePpm: ACME.share });
	});

	it("a manifest of code that does not know them is read as ever", async () => {
		const snapshot = await snapshotOf(ACME);
		expect((await findByOpenRtbIdentity(snapshot, "acme_rtb", 0))?.id).toBe("acme");
		expect(await findByOpenRtbIdentity(snapshot, "acme_old", 0)).toBeUndefined();
	});
});
