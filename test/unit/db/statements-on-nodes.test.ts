/**
 * What Citus cannot do well with the tables as scripts/postgres/distribute.sql spreads them: join tables of which each is spread in its own way,
 * or a table that is spread to what has a row in any case. Statements that do so are few, and named here (docs/decisions/0034).
 */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readStatements } from "../../support/node/sql-templates.ts";

const SCRIPT = readFileSync("scripts/postgres/distribute.sql", "utf8");

/** Each table that is spread, and what stands together with it. */
const GROUPS = new Map(
	[...SCRIPT.matchAll(/create_distributed_table\('(\w+)', '\w+'(?:, colocate_with => '(\w+)')?\)/g)].map(([, table = "", beside]) => [
		table,
		beside === undefined || beside === "none" ? table : beside,
	]),
);

/** With why it does no harm there. */
const WIDE: readonly [file: string, what: string, why: string][] = [
	["src/days/read-days.ts", "day_digests to each row", "all of it is of one publisher, and so of one node"],
];

/** What stands between FROM and the next clause, where tables are joined. */
const clausesOf = (text: string) =>
	text
		.split(/\b(?:SELECT|WHERE|UNION|GROUP BY|ORDER BY|SET|VALUES)\b/)
		.flatMap((part) => (/\bFROM\b/.test(part) ? [part.slice(part.indexOf("FROM"))] : []));

const spreadBehind = (text: string, words: string) =>
	[...text.matchAll(new RegExp(`\\b(?:${words}) (\\w+)`, "g"))].flatMap(([, table = ""]) => (GROUPS.has(table) ? [table] : []));

function faultsOf(text: string): string[] {
	const outer = spreadBehind(text, "LEFT JOIN").map((table) => `${table} to each row`);
	const joined = clausesOf(text).map((clause) => spreadBehind(clause, "FROM|JOIN"));
	const apart = joined.filter((tables) => new Set(tables.map((table) => GROUPS.get(table))).size > 1);
	return [...outer, ...apart.map((tables) => tables.join(" with "))];
}

const TEMPLATES = globSync("src/**/*.ts", { exclude: ["src/db/schema/**", "src/products/**", "src/operator/feeds/**"] })
	.map((path) => path.replaceAll("\\", "/"))
	.sort()
	.flatMap((file) =>
		readStatements(file, readFileSync(file, "utf8"), new Set()).templates.map(({ parts }) => ({ file, text: parts.join("?") })),
	);

describe("unit: statements over several nodes", () => {
	it("join what is spread alike, but for those that are named", () => {
		expect(GROUPS.size).toBeGreaterThan(10);
		expect(TEMPLATES.length).toBeGreaterThan(500);
		const found = TEMPLATES.flatMap(({ file, text }) => faultsOf(text).map((fault) => `${file}: ${fault}`));
		expect([...new Set(found)]).toEqual(WIDE.map(([file, what]) => `${file}: ${what}`));
	});

	it.each([
		["SELECT c.id FROM page LEFT JOIN clicks c ON c.id = page.id", "clicks to each row"],
		["SELECT 1 FROM clicks c CROSS JOIN paid_visits v WHERE v.click_id = c.id", "clicks with paid_visits"],
	])("are found: %s", (text, fault) => {
		expect(faultsOf(text)).toEqual([fault]);
	});
});
