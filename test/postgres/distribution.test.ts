/**
 * scripts/postgres/distribute.sql runs, on stand-ins for the functions of Citus: they refuse what its documentation says that it refuses of a
 * table, by what PostgreSQL's catalogue says of the migrated one.
 */
import { env } from "cloudflare:workers";
import { getTableName, is } from "drizzle-orm";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { beforeAll, describe, expect, it } from "vitest";
import SCRIPT from "../../scripts/postgres/distribute.sql?raw";
import * as schema from "../../src/db/schema/network.ts";

const TABLES = Object.values(schema)
	.filter((value) => is(value, SQLiteTable))
	.map((table) => getTableName(table));

/** What a table of either kind may not have; with the column that rows are distributed by, what its keys must have. */
const STAND_INS = [
	"CREATE TABLE standing (name text PRIMARY KEY, kind text NOT NULL, type oid, collation_of oid)",
	`CREATE FUNCTION refuse_on_nodes(of_table regclass, by_column text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		bad record;
		parts regclass[] := ARRAY(SELECT relid FROM pg_partition_tree(of_table)) || of_table;
	BEGIN
		IF EXISTS (SELECT 1 FROM standing WHERE name = of_table::text) THEN RAISE EXCEPTION '% is distributed already', of_table; END IF;
		PERFORM 1 FROM pg_class WHERE oid = of_table AND relkind IN ('r', 'p') AND NOT relispartition AND relpersistence = 'p';
		IF NOT FOUND THEN RAISE EXCEPTION '% is no table by itself', of_table; END IF;
		IF by_column IS NULL AND array_length(parts, 1) > 1 THEN RAISE EXCEPTION '% has partitions', of_table; END IF;
		IF EXISTS (SELECT 1 FROM pg_partition_tree(of_table) WHERE level > 1) THEN RAISE EXCEPTION '% has partitions of partitions', of_table; END IF;
		SELECT tgname INTO bad FROM pg_trigger WHERE tgrelid = ANY (parts) AND NOT tgisinternal;
		IF FOUND THEN RAISE EXCEPTION '% has the trigger %', of_table, bad.tgname; END IF;
		SELECT conname INTO bad FROM pg_constraint WHERE contype IN ('f', 'x') AND (conrelid = ANY (parts) OR confrelid = ANY (parts));
		IF FOUND THEN RAISE EXCEPTION '% has the constraint %', of_table, bad.conname; END IF;
		SELECT attname INTO bad FROM pg_attribute WHERE attrelid = of_table AND attidentity <> '' AND atttypid <> 'bigint'::regtype;
		IF FOUND THEN RAISE EXCEPTION '% has the small identity %', of_table, bad.attname; END IF;
		IF by_column IS NULL THEN RETURN; END IF;
		PERFORM 1 FROM pg_attribute WHERE attrelid = of_table AND attname = by_column AND attnotnull AND attgenerated = '' AND NOT attisdropped;
		IF NOT FOUND THEN RAISE EXCEPTION '%.% may be null, or is no column', of_table, by_column; END IF;
		SELECT i.indexrelid::regclass AS name INTO bad FROM pg_index i WHERE i.indisunique AND i.indrelid = ANY (parts)
			AND NOT EXISTS (SELECT 1 FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, place)
				JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
				WHERE a.attname = by_column AND k.place <= i.indnkeyatts);
		IF FOUND THEN RAISE EXCEPTION '% does not hold %', bad.name, by_column; END IF;
	END $$`,
	`CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM refuse_on_nodes(table_name, NULL);
		INSERT INTO standing VALUES (table_name::text, 'reference');
	END $$`,
	`CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text, distribution_type text DEFAULT 'hash',
		colocate_with text DEFAULT 'default') RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		of_column pg_attribute;
	BEGIN
		PERFORM refuse_on_nodes(table_name, distribution_column);
		SELECT * INTO of_column FROM pg_attribute WHERE attrelid = table_name AND attname = distribution_column;
		IF colocate_with NOT IN ('default', 'none') AND NOT EXISTS (SELECT 1 FROM standing
			WHERE name = colocate_with AND kind = 'distributed' AND type = of_column.atttypid AND collation_of = of_column.attcollation) THEN
			RAISE EXCEPTION '% cannot stand beside %', table_name, colocate_with;
		END IF;
		INSERT INTO standing VALUES (table_name::text, 'distributed', of_column.atttypid, of_column.attcollation);
	END $$`,
];

const STATEMENTS = SCRIPT.replaceAll(/--.*/g, "")
	.split(";")
	.map((statement) => statement.trim())
	.filter((statement) => !["", "BEGIN", "COMMIT"].includes(statement));

const run = (statement: string) => env.DB.prepare(statement).run();

describe("postgres: tables on several nodes", () => {
	beforeAll(async () => {
		for (const statement of STAND_INS) await run(statement);
	});

	it.each([
		["a key without the column", "claims", "claims', 'publisher_id'", /claims_pkey does not hold publisher_id/],
		["a key of each week without the column", "clicks", "clicks', 'id'", /clicks_\w+_billed_by_hash does not hold id/],
		["a column that may be null", "conversions", "conversions', 'publisher_id'", /conversions.publisher_id may be null/],
		["a trigger", "audit", "audit', 'id'", /audit has the trigger audit_keeps_rows/],
		["a partition", "clicks_rest", "clicks_rest', 'click_hash'", /clicks_rest is no table by itself/],
	])("%s is refused: %s", async (_, _table, call, message) => {
		await expect(run(`SELECT create_distributed_table('${call})`)).rejects.toThrow(message);
	});

	it("as the script spreads them none is refused", async () => {
		expect(STATEMENTS.length).toBeGreaterThan(20);
		for (const statement of STATEMENTS) await run(statement);
		const { results } = await env.DB.prepare("SELECT name FROM standing").all<{ name: string }>();
		expect(TABLES).toEqual(expect.arrayContaining(results.map(({ name }) => name)));
	});

	it("a week of clicks that is made later is as the others", async () => {
		await run(`SELECT make_click_weeks(${Date.UTC(2031, 0, 1)}, 1)`);
		await run("DELETE FROM standing WHERE name = 'clicks'");
		await run("SELECT create_distributed_table('clicks', 'click_hash')");
	});
});
