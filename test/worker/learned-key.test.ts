/** `book:learned` of more factors than it has room for, read a page at a time. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { LEARNED_KEY, type LearnedWire } from "../../src/campaign-book/learned.ts";
import { openDatabase } from "../../src/db/client.ts";
import { writePublished } from "../../src/learning/stored.ts";
import { pagesOfFactors } from "../../src/learning-night/read-factors.ts";
import { writeLearnedKey } from "../../src/learning-night/write-learned-key.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { bytesOf } from "../../src/lib/split-by-bytes.ts";

const db = openDatabase(env.DB);
const CAMPAIGNS = 40;
const PUBLISHERS = 60;

/** Some part between 0 and 1 that has nothing to do with what else is taken of a number. */
const chance = (at: number, of: number) => (Math.imul(at * 7 + of, 2_654_435_761) >>> 8) / 2 ** 24;
const nameOf = (publisher: number) => `publisher-${String(publisher).padStart(2, "0")}`;
const published = (factor: number) => writePublished({ factor, at: 0, before: [{ factor: 1, until: 0 }] });

/** Publishers have from 10 to 129 sources, one in four 220 and others: a third of the sources have no factor. */
function* sources() {
	for (let publisher = 0; publisher < PUBLISHERS; publisher++) {
		const count = publisher % 4 === 0 ? 220 : 10 + ((publisher * 37) % 120);
		for (let at = 0; at < count; at++) {
			const number = publisher * 1_000 + at;
			yield { publisherId: nameOf(publisher), name: `s${number}`, factor: at % 3 === 0 ? null : 0.3 + chance(number, 1), number };
		}
		if (publisher % 4 === 0)
			yield { publisherId: nameOf(publisher), name: "*other", factor: publisher % 8 === 0 ? 0.3 : 1.2, number: 1_000_000 };
	}
}

const NUMBERS = new Set(["campaign_id", "moving", "from_day", "last_day", "day"]);

async function insert(table: string, columns: string, rows: readonly object[]): Promise<void> {
	const values = columns
		.split(", ")
		.map((column) => (NUMBERS.has(column) ? `CAST(value ->> '${column}' AS BIGINT)` : `value ->> '${column}'`));
	for (let at = 0; at < rows.length; at += 2_000) {
		await env.DB.prepare(`INSERT INTO ${table} (${columns}) SELECT ${values} FROM json_each(?)`)
			.bind(JSON.stringify(rows.slice(at, at + 2_000)))
			.run();
	}
}

beforeAll(async () => {
	const all = [...sources()];
	const factor = { level: "source", campaign_id: 0, target: "1", moving: 0, publisher_id: "", name: "" };
	await insert("learning_factors", "level, campaign_id, publisher_id, name, published, target, moving", [
		...all.flatMap(({ publisherId, name, factor: own }) =>
			own === null ? [] : [{ ...factor, publisher_id: publisherId, name, published: published(own) }],
		),
		...Array.from({ length: CAMPAIGNS * PUBLISHERS }, (_, at) => ({
			...factor,
			level: "campaign_publisher",
			campaign_id: 1 + Math.floor(at / PUBLISHERS),
			publisher_id: nameOf(at % PUBLISHERS),
			published: published(0.5 + chance(at, 2)),
		})),
		...Array.from({ length: PUBLISHERS }, (_, at) => ({
			...factor,
			level: "publisher",
			publisher_id: nameOf(at),
			published: published(0.9 + chance(at, 3) / 5),
		})),
		{ ...factor, level: "link", name: "deeplink", published: published(1.2) },
		{ ...factor, level: "price", campaign_id: 1, name: "*listed", published: published(3) },
	]);
	await insert(
		"learning_sources",
		"publisher_id, source, from_day, last_day",
		all.map(({ publisherId, name }) => ({ publisher_id: publisherId, source: name, from_day: name === "*other" ? null : 0, last_day: 1 })),
	);
	await insert(
		"learning_traffic",
		"level, publisher_id, name, day, evidence",
		all.map(({ publisherId, name, number }) => ({
			level: "source",
			publisher_id: publisherId,
			name,
			day: 1,
			evidence: JSON.stringify({ clicks: number === 1_000_000 ? 5_000 : Math.floor(1_000 * chance(number, 4) ** 3) }),
		})),
	);
	await insert(
		"learning_campaigns",
		"campaign_id, day, learned, steering",
		Array.from({ length: CAMPAIGNS }, (_, campaign) => ({
			campaign_id: campaign + 1,
			day: 1,
			learned: JSON.stringify({
				publishers: Object.fromEntries(
					Array.from({ length: PUBLISHERS }, (_, at) => [nameOf(at), { clicks: Math.floor(400 * chance(campaign * 100 + at, 5)) }]),
				),
			}),
			steering: JSON.stringify({ bidCreep: 1 + campaign / 100 }),
		})),
	);
});

async function textOfKey(): Promise<string> {
	await env.BOOK.delete(LEARNED_KEY);
	await writeLearnedKey(db, env.BOOK);
	return (await env.BOOK.get(LEARNED_KEY)) ?? "";
}

/** What holds for the other sources of publishers. */
function othersOf(text: string): Record<string, number> {
	const { publishers = {} } = JSON.parse(text) as LearnedWire;
	return Object.fromEntries(Object.entries(publishers).flatMap(([id, { o }]) => (o === undefined ? [] : [[id, o]])));
}

describe("worker: the key of learned factors", () => {
	it("is the same, byte for byte, as when all factors were in memory at once", async () => {
		const text = await textOfKey();
		expect(bytesOf(text)).toBeLessThanOrEqual(64 * 1024);
		expect(await sha256Hex(text)).toBe("5f14aa23e9cd782c2b2065559bcedfbbedf24b621154a2e0f0e4fa4b3ca4199f");
		// Of other sources nothing is said where that would be more than some that have no room are worth.
		expect(othersOf(text)).toEqual(Object.fromEntries([0, 8, 16, 24, 32, 40, 48, 56].map((at) => [nameOf(at), 0.3])));
		await env.DB.prepare("DELETE FROM learning_factors WHERE level = 'campaign_publisher' AND campaign_id > 2").run();
		await env.DB.prepare("DELETE FROM learning_factors WHERE level = 'source' AND publisher_id > 'publisher-09'").run();
		const small = await textOfKey();
		expect(othersOf(small)).toEqual({ "publisher-00": 0.3, "publisher-04": 1.2, "publisher-08": 0.3 });
		expect(await sha256Hex(small)).toBe("6a9815ad1518930ceb9b9a29f7d68ceee1a2ab1281978242c99e11bfb3c67b0d");
	});

	it("is of the same factors however few are read at a time", async () => {
		const read = async (size: number) => (await Array.fromAsync(pagesOfFactors(db, size))).flat();
		const all = await read(100_000);
		expect(all.length).toBeGreaterThan(800);
		expect(await read(61)).toEqual(all);
	});
});
