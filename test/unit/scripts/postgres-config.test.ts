import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { POSTGRES_DIR } from "../../../scripts/local/paths.ts";
import { bindPostgres, bindsPostgres } from "../../../scripts/local/postgres-config.ts";
import { tablesOf } from "../../../scripts/local/wrangler-toml.ts";

const CONFIG = readFileSync("wrangler.toml", "utf8");

/** What wrangler watches of a configuration that stands in the folder of PostgreSQL: it joins the two. */
function watchedBy(config: string): string[] {
	const { build } = parse(config) as { build: { watch_dir: string | string[] } };
	return [build.watch_dir].flat().map((folder) => join(POSTGRES_DIR, folder));
}

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
		expect(parse(bound).build).toMatchObject({ cwd: "/project" });
		expect(watchedBy(bound)).toEqual(["/project/src"]);
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

	it("keeps what is set for the build", () => {
		const built = CONFIG.replace("[build]", '[build]\ncwd = "tools"\nwatch_dir = ["src", "/elsewhere"]');
		const bound = bindPostgres(built, "/project", "other");
		expect(parse(bound).build).toMatchObject({ cwd: "/project/tools" });
		expect(watchedBy(bound)).toEqual(["/project/src", "/elsewhere"]);
	});

	it("has a campaign book of its own for each database, however the namespace is written", () => {
		const bookOf = (config: string) => tablesOf(parse(config), "kv_namespaces").find(({ binding }) => binding === "BOOK")?.id;
		const [one, other] = ["clickbourse", "db.example:5432/network"].map((name) => bookOf(bindPostgres(CONFIG, "/project", name)));
		expect(new Set([bookOf(CONFIG), one, other, undefined]).size).toBe(4);
		const reordered = CONFIG.replace(/binding = "BOOK"\n(id = .*)\n/, '$1\n# of the network\nbinding = "BOOK"\n');
		expect(reordered).not.toBe(CONFIG);
		expect(bookOf(bindPostgres(reordered, "/project", "clickbourse"))).toBe(one);
	});
});
