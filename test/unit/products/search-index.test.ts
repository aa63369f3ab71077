/** The triggers keep the search indexes as they would be if they were made anew, and migrations index what is stored already. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const FOLDER = join(import.meta.dirname, "..", "..", "..", "drizzle", "products");
const [BASE = "", ...LATER] = readdirSync(FOLDER)
	.filter((name) => name.endsWith(".sql"))
	.sort()
	.map((name) => readFileSync(join(FOLDER, name), "utf8"));
const WORDS = ["red", "blue", "shoe", "hat"];

const INSERT = `INSERT INTO products (id, domain, name, description, brand, category, url, currency, final_price_micros, availability)
	VALUES (?, ?, ?, ?, ?, NULL, 'https://a.example', 'USD', 1, ?)`;

function migrated(rows: readonly Row[] = []): DatabaseSync {
	const db = new DatabaseSync(":memory:");
	db.exec(BASE);
	for (const row of rows) db.prepare(INSERT).run(...row);
	for (const migration of LATER) db.exec(migration);
	return db;
}

type Row = [id: string, domain: string, name: string, description: string | null, brand: string | null, availability: string];

/** Which products each word and each domain finds. */
function found(db: DatabaseSync): Record<string, unknown[]> {
	const find = db.prepare("SELECT p.id FROM products_fts f JOIN products p ON p.rowid = f.rowid WHERE products_fts MATCH ? ORDER BY p.id");
	const facets = ["a.example", "b.example"].map((domain) => `facets : d${Buffer.from(domain).toString("hex")}0`);
	return Object.fromEntries([...WORDS, ...facets].map((text) => [text, find.all(text).map(({ id }) => id)]));
}

function expected(rows: readonly Row[]): Record<string, unknown[]> {
	const inStock = rows.filter((row) => row[5] === "InStock").sort((a, b) => (a[0] < b[0] ? -1 : 1));
	const has = (word: string) => inStock.filter((row) => row.slice(2, 5).some((text) => text?.split(" ").includes(word))).map(([id]) => id);
	const of = (domain: string) => inStock.filter((row) => row[1] === domain).map(([id]) => id);
	const facets = ["a.example", "b.example"].map((domain) => [`facets : d${Buffer.from(domain).toString("hex")}0`, of(domain)]);
	return Object.fromEntries([...WORDS.map((word) => [word, has(word)]), ...facets]);
}

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));
const row: fc.Arbitrary<Row> = fc.tuple(
	fc.constantFrom("1", "2", "3", "4"),
	fc.constantFrom("a.example", "b.example"),
	text,
	fc.option(text),
	fc.option(text),
	fc.constantFrom("InStock", "OutOfStock"),
);
const change = fc.oneof({ weight: 4, arbitrary: row }, fc.constantFrom("1", "2", "3", "4"));

describe("unit: search index", () => {
	it("holds what is stored and in stock after any upserts and removals", () => {
		fc.assert(
			fc.property(fc.array(change, { maxLength: 15 }), (changes) => {
				using db = migrated();
				const kept = new Map<string, Row>();
				for (const next of changes) {
					if (typeof next === "string") {
						db.prepare("DELETE FROM products WHERE id = ?").run(next);
						kept.delete(next);
					} else {
						db.prepare(
							`${INSERT} ON CONFLICT (id) DO UPDATE SET domain = excluded.domain, name = excluded.name, description = excluded.description,
								brand = excluded.brand, availability = excluded.availability`,
						).run(...next);
						kept.set(next[0], next);
					}
				}
				expect(found(db)).toEqual(expected([...kept.values()]));
				db.exec("INSERT INTO products_fts (products_fts) VALUES ('integrity-check')");
			}),
			{ numRuns: 100 },
		);
	});

	it("holds what was stored before there was one, in stock by the spellings of feeds", () => {
		const spelt = ["InStock", "in stock", "in_stock", "https://schema.org/InStock", "out of stock"];
		using db = migrated(spelt.map((availability, at): Row => [String(at), "a.example", "red hat", null, null, availability]));
		expect(found(db).red).toEqual(["0", "1", "2", "3"]);
	});
});
