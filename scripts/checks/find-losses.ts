/** Statements of a migration that can lose rows on D1. Pure. */

const LOSSES: readonly [pattern: RegExp, why: string][] = [
	[/^drop\s+table\b/i, "drops a table with its rows"],
	[/^delete\b/i, "deletes rows"],
	[/^alter\s+table\b[\s\S]*\bdrop\b/i, "drops a column with its values"],
	[/^create\s+table\s+(if\s+not\s+exists\s+)?[`"[]?__new_/i, "rebuilds a table: on D1 a cascade can empty the ones that refer to it"],
	[/^pragma\s+(foreign_keys|defer_foreign_keys)\b/i, "has no effect inside D1's transaction: what follows runs with foreign keys on"],
	[/^(insert\s+or\s+)?replace\b/i, "replaces rows"],
	[/^update\b(?![\s\S]*\bwhere\b)/i, "writes over every row of a table"],
	[/\bon\s+delete\s+cascade\b/i, "cascades: a later rebuild of the other table would empty this one"],
];

const REVIEWED = /^--\s*reviewed:\s*\S/m;

/** What can lose rows and gives no reason, a line each. */
export function findLosses(sql: string): string[] {
	return sql.split("--> statement-breakpoint").flatMap((text) => {
		const statement = text.replaceAll(/^\s*--.*$/gm, "").trim();
		if (REVIEWED.test(text)) return [];
		return LOSSES.filter(([pattern]) => pattern.test(statement)).map(
			([, why]) => `\`${statement.slice(0, 60).replaceAll(/\s+/g, " ")}\` ${why}`,
		);
	});
}
