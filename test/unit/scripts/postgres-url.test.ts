import { expect, it } from "vitest";
import { readPostgresLedger } from "../../../scripts/backtest/read-ledger.ts";
import { Failure } from "../../../scripts/local/failure.ts";
import { migratePostgres } from "../../../scripts/postgres/migrate.ts";

/** A password with a number sign that was not escaped. */
const BROKEN = "postgres://clickbourse:se#cret-of-mine@localhost:5432/clickbourse";

it.each([
	["migrated", migratePostgres],
	["read", readPostgresLedger],
])("unit: a URL that is none is told in words where it is to be %s, without the password", async (_, use) => {
	const error = await use(BROKEN).then(
		() => null,
		(thrown: unknown) => thrown,
	);
	expect(error).toBeInstanceOf(Failure);
	expect(String(error)).toContain("Invalid URL");
	expect(String(error)).not.toContain("cret-of-mine");
});
