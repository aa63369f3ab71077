import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { bindPostgres, bindsPostgres } from "../../../scripts/local/postgres-config.ts";

const CONFIG = readFileSync("wrangler.toml", "utf8");

describe("unit: wrangler.toml and PostgreSQL", () => {
	it("is on D1 as it stands", () => {
		expect(bindsPostgres(CONFIG)).toBe(false);
	});

	it.each(["[[hyperdrive]]", "[[env.origin.hyperdrive]]"])("is on PostgreSQL with %s", (table) => {
		expect(bindsPostgres(`${CONFIG}\n${table}\nbinding = "POSTGRES"\n`)).toBe(true);
	});

	it("is bound once for npm start, with paths that hold from another folder", () => {
		const bound = bindPostgres(CONFIG, "/project", "clickbourse");
		expect(bound).toContain('main = "/project/src/worker.ts"');
		expect(bound).toContain('[build]\ncwd = "/project"');
		expect(bindsPostgres(bound)).toBe(true);
		expect(bindPostgres(bound, "/project", "clickbourse").match(/^\[\[hyperdrive\]\]/gm)).toHaveLength(1);
	});

	it.each(["[[ hyperdrive ]]", "[['hyperdrive']]", "[[env.my-origin.hyperdrive]]"])(
		"is on PostgreSQL with %s, as TOML may have it",
		(table) => {
			expect(bindsPostgres(`${CONFIG}\n${table}\nbinding = 'POSTGRES'\n`)).toBe(true);
		},
	);

	it("is bound as well with values in single quotes: its book is not that of another database", () => {
		const single = CONFIG.replaceAll(/^(\w+) = "(.*)"$/gm, "$1 = '$2'");
		const [one, bound] = [parse(bindPostgres(CONFIG, "/project", "other")), parse(bindPostgres(single, "/project", "other"))];
		expect(bound).toEqual(one);
	});

	it("has a campaign book of its own for each database", () => {
		const bookOf = (config: string) => config.match(/^\[\[kv_namespaces\]\]\nbinding = "BOOK"\nid = "([0-9a-f]{32})"$/m)?.[1];
		const [one, other] = ["clickbourse", "db.example:5432/network"].map((name) => bookOf(bindPostgres(CONFIG, "/project", name)));
		expect(new Set([bookOf(CONFIG), one, other, undefined]).size).toBe(4);
	});
});
