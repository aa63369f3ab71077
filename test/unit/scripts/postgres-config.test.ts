import { readFileSync } from "node:fs";
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
		const bound = bindPostgres(CONFIG, "/project");
		expect(bound).toContain('main = "/project/src/worker.ts"');
		expect(bound).toContain('[build]\ncwd = "/project"');
		expect(bindsPostgres(bound)).toBe(true);
		expect(bindPostgres(bound, "/project").match(/^\[\[hyperdrive\]\]/gm)).toHaveLength(1);
	});
});
