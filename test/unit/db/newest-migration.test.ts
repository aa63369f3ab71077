import { describe, expect, it } from "vitest";
import { listMigrations } from "../../../scripts/postgres/migrate.ts";
import { NEWEST_MIGRATION } from "../../../src/db/newest-migration.ts";

describe("unit: the migration that /ready asks PostgreSQL for", () => {
	it("is the last of drizzle/postgres", () => {
		expect(NEWEST_MIGRATION).toBe(listMigrations().at(-1));
	});
});
