import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listMigrations } from "../../../scripts/postgres/migrate.ts";
import { NEWEST_D1_MIGRATION, NEWEST_MIGRATION } from "../../../src/db/newest-migration.ts";

describe("unit: the migration that /ready asks PostgreSQL for", () => {
	it("is the last of drizzle/postgres", () => {
		expect(NEWEST_MIGRATION).toBe(listMigrations().at(-1));
	});

	it("is on D1 the last of drizzle/network", () => {
		const files = readdirSync("drizzle/network").filter((name) => name.endsWith(".sql"));
		expect(NEWEST_D1_MIGRATION).toBe(files.sort().at(-1));
	});
});
