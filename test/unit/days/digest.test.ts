/** The digest of a day: what docs/publishers/days.md tells publishers to compute is what we compute. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addToDigest, type DigestRecord, NO_RECORDS } from "../../../src/days/digest.ts";
import { formatUsd, parseMicros } from "../../../src/lib/money.ts";

type PublisherRecord = { date: string; rev_type: string; transaction_id: string; click_id: string; publisher_revenue: string };

const page = readFileSync("docs/publishers/days.md", "utf8");
const [, code = ""] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
const [, example = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
const { digestOf } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
	digestOf: (records: readonly PublisherRecord[]) => Promise<string>;
};

const ours = (record: PublisherRecord): DigestRecord => ({
	date: record.date,
	revType: record.rev_type,
	transactionId: record.transaction_id,
	clickId: record.click_id,
	revenueMicros: parseMicros(record.publisher_revenue) ?? Number.NaN,
});

const record = fc.record({
	date: fc.constantFrom("2026-11-10", "2026-11-11"),
	rev_type: fc.constantFrom("CPC", "VOID", "CPA", "ADJUSTMENT"),
	transaction_id: fc.string({ unit: "grapheme", maxLength: 40 }),
	click_id: fc.string({ unit: "grapheme", maxLength: 40 }),
	publisher_revenue: fc.integer({ min: -1e9, max: 1e9 }).map((steps) => formatUsd(steps * 100)),
});

describe("unit: the digest of a day", () => {
	it("the page's example is what the page's code and ours give", async () => {
		const records: PublisherRecord[] = JSON.parse(example);
		const digest = await digestOf(records);
		expect(page).toContain(`\`${digest}\``);
		expect(await addToDigest(NO_RECORDS, records.map(ours))).toBe(digest);
	});

	it("of any records, in any order and any pieces, ours is the publisher's", async () => {
		const pieces = fc
			.array(record, { maxLength: 12 })
			.chain((records) =>
				fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length }), fc.nat(records.length)),
			);
		await fc.assert(
			fc.asyncProperty(pieces, async ([records, shuffled, at]) => {
				const first = await addToDigest(NO_RECORDS, shuffled.slice(0, at).map(ours));
				expect(await addToDigest(first, shuffled.slice(at).map(ours))).toBe(await digestOf(records));
			}),
		);
	});

	it("a record that is missing, twice there, or another in any field is told", async () => {
		const [one, two] = JSON.parse(example) as [PublisherRecord, PublisherRecord];
		const others: PublisherRecord[][] = [
			[],
			[one],
			[one, two, two],
			...Object.keys(one).map((field) => [{ ...one, [field]: `${one[field as keyof PublisherRecord]}1` }, two]),
		];
		const digests = await Promise.all([[one, two], ...others].map(digestOf));
		expect(new Set(digests).size).toBe(others.length + 1);
		expect(digests[1]).toBe(NO_RECORDS);
	});
});
