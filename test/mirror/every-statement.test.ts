/** Every statement of src on the network database was run on both engines, by the files of the `mirror` project that ran before. */
import { globSync, readFileSync } from "node:fs";
import { getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { Client } from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import * as schema from "../../src/db/schema/network.ts";
import { foldSpace, holds, readStatements } from "../support/node/sql-templates.ts";

const TABLES = new Map(Object.entries(schema).flatMap(([name, value]) => (is(value, SQLiteTable) ? [[name, getTableName(value)]] : [])));

const SOURCES = globSync("src/**/*.ts", {
	exclude: [
		"src/db/schema/**",
		// Products are on D1, whichever engine the network has.
		"src/products/**",
		"src/operator/feeds/**",
		// Statements for one of the two engines: test/postgres has tests of them.
		"src/database-move/**",
		"src/db/schema-check.ts",
		"src/retention/click-weeks.ts",
	],
})
	.map((path) => path.replaceAll("\\", "/"))
	.sort();

/** Statements of one engine alone, or that need a state which the mirror does not bring about, with why. */
const NOT_MIRRORED: readonly [file: string, template: RegExp, why: string][] = [
	["src/adjustments/adjust-clicks.ts", /^UPDATE adjustments SET cursor/, "twenty stretches of clicks of which none is selected"],
	["src/alerts/sweep-alerts.ts", /^DELETE FROM problem_alerts WHERE kind IN/, "a problem that ends before two looks have seen it"],
	["src/db/database-size.ts", /pg_database_size/, "of PostgreSQL alone"],
	["src/db/removed-clicks.ts", /^INSERT INTO retention/, "of weeks of clicks, which PostgreSQL alone has"],
	["src/operator/network/export-network.ts", /products p/, "of the products' database"],
	["src/operator/network/stored-entries.ts", /products p/, "of the products' database"],
	["src/retention/remove-old.ts", /^clicks_rest AS clicks$/, "of PostgreSQL alone"],
];

let texts: string[];

beforeAll(async () => {
	const client = new Client({ connectionString: process.env.POSTGRES_URL });
	await client.connect();
	const { rows } = await client.query<{ text: string }>("SELECT DISTINCT text FROM mirrored_statements");
	await client.end();
	texts = rows.map(({ text }) => foldSpace(text));
});

describe("mirror: statements of src", () => {
	it("were run on both engines", () => {
		expect(texts.length).toBeGreaterThan(200);
		const missing = SOURCES.flatMap((path) => {
			const { templates, built } = readStatements(path, readFileSync(path, "utf8"), new Set(TABLES.keys()));
			const unseen = templates
				.filter((template) => !texts.some((text) => holds(text, template)))
				.map(({ line, parts }) => ({ line, text: parts.join("?") }))
				.filter(({ text }) => !NOT_MIRRORED.some(([file, expression]) => file === path && expression.test(text)));
			const unbuilt = built
				.map(({ line, verb, table }) => ({ line, text: `${verb} "${TABLES.get(table)}"` }))
				.filter(({ text }) => !texts.some((seen) => isBuilt(seen, text)));
			return [...unseen, ...unbuilt].map(({ line, text }) => `${path}:${line} ${text}`);
		});
		expect(missing).toEqual([]);
	});

	it("are excepted only where they are", () => {
		const stale = NOT_MIRRORED.filter(([file, expression]) => {
			const { templates } = readStatements(file, readFileSync(file, "utf8"), new Set());
			return !templates.some(({ parts }) => expression.test(parts.join("?")));
		});
		expect(stale).toEqual([]);
	});
});

/** @param wanted such as `select "clicks"` */
function isBuilt(text: string, wanted: string): boolean {
	const [verb = "", table = ""] = wanted.split(/ (?=")/);
	return verb === "select" ? text.startsWith("select ") && text.includes(` from ${table}`) : text.startsWith(`${verb} ${table}`);
}
