import { describe, expect, it } from "vitest";
import { findLosses } from "../../../scripts/checks/find-losses.ts";

describe("unit: migrations that can lose rows", () => {
	it.each([
		"DROP TABLE `clicks`;",
		"DELETE FROM clicks WHERE id = 1;",
		"ALTER TABLE `clicks` DROP COLUMN `subi`;",
		"CREATE TABLE `__new_clicks` (`id` text);",
		"PRAGMA foreign_keys=OFF;",
		"UPDATE `clicks` SET `reason` = NULL;",
		"CREATE TABLE a (b text REFERENCES c(id) ON DELETE CASCADE);",
		"CREATE TABLE a (b text);\n--> statement-breakpoint\ndrop table c;",
	])("%s is found", (sql) => {
		expect(findLosses(sql)).toHaveLength(1);
	});

	it.each([
		"CREATE TABLE `clicks` (`id` text PRIMARY KEY NOT NULL) WITHOUT ROWID;",
		"ALTER TABLE `clicks` ADD `atag` text;",
		"CREATE INDEX a ON b (c);",
		"UPDATE `callbacks` SET `lease` = NULL WHERE `lease` = '';",
		"INSERT INTO `publisher_names` SELECT 'a', id FROM publishers;",
		"-- reviewed: the table never held rows outside development\nDROP TABLE `trial`;",
	])("%s passes", (sql) => {
		expect(findLosses(sql)).toEqual([]);
	});
});
