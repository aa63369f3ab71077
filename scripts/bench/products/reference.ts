/** The same tables, index and queries in node:sqlite. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { matchProducts, selectBest } from "../../../src/products/affiliate-query.ts";
import { expressionsOf, titleOf, wordsOf } from "../../../src/products/search-terms.ts";
import { ROOT } from "../../local/paths.ts";
import type { BenchProduct } from "./generate.ts";

const COLUMNS = [
	"id",
	"domain",
	"name",
	"description",
	"brand",
	"category",
	"url",
	"image_url",
	"currency",
	"regular_price_micros",
	"final_price_micros",
	"availability",
] as const;

/** A database of its own with the tables, index and triggers of the migrations, written to by bulk inserts. */
export class ReferenceImport {
	readonly #db: DatabaseSync;

	constructor(file: string) {
		this.#db = new DatabaseSync(file);
		// As workerd opens its files.
		this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
		const folder = join(ROOT, "drizzle", "products");
		for (const name of readdirSync(folder)
			.filter((name) => name.endsWith(".sql"))
			.sort())
			this.#db.exec(readFileSync(join(folder, name), "utf8"));
	}

	/** One prepared statement a row, in one transaction. */
	insert(products: readonly BenchProduct[]): void {
		const statement = this.#db.prepare(`INSERT INTO products (${COLUMNS.join(", ")}) VALUES (${COLUMNS.map(() => "?").join(", ")})`);
		this.#db.exec("BEGIN");
		for (const product of products) {
			const { id, domain, name, description, brand, category, url, image_url, currency, regular_price, final_price, availability } =
				product;
			const prices = [regular_price, final_price].map((price) => Math.round(Number(price) * 1_000_000));
			statement.run(id, domain, name, description, brand, category, url, image_url, currency, ...prices, availability);
		}
		this.#db.exec("COMMIT");
	}

	close(): void {
		this.#db.close();
	}
}

const dialect = new SQLiteSyncDialect();

/** Searches the file that the Worker's database is in. */
export class ReferenceSearch {
	readonly #db: DatabaseSync;

	/** @param folder of stored state; the file is the one that holds products */
	constructor(folder: string) {
		this.#db = openProducts(folder);
	}

	/** The best matches, by the statements that the Worker runs. Returns how many there are. */
	search(keyword: string): number {
		for (const expression of expressionsOf(wordsOf(keyword))) {
			const { sql, params } = dialect.sqlToQuery(selectBest(matchProducts(expression, []), titleOf(keyword)));
			const rows = this.#db.prepare(sql).all(...(params as (string | number)[]));
			if (rows.length > 0) return rows.length;
		}
		return 0;
	}

	close(): void {
		this.#db.close();
	}
}

function openProducts(folder: string): DatabaseSync {
	for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
		if (!entry.name.endsWith(".sqlite")) continue;
		const db = new DatabaseSync(join(entry.parentPath, entry.name), { readOnly: true });
		const { tables } = db.prepare("SELECT count(*) AS tables FROM sqlite_master WHERE name = 'products_fts'").get() as { tables: number };
		if (tables === 1 && db.prepare("SELECT 1 FROM products LIMIT 1").get() !== undefined) return db;
		db.close();
	}
	throw new Error(`no database under ${folder} holds products`);
}
