import type * as v from "valibot";
import { counted } from "../../src/lib/counted.ts";
import { faultsSchema } from "../../src/lib/shapes.ts";
import type { ImportReport } from "../../src/operator/network/import-answer.ts";
import { describeDifference } from "./describe-difference.ts";
import { readAnswer } from "./read-answer.ts";
import { sayWhatLists } from "./what-lists.ts";

/** Reads the answer of a verb that was refused. @throws Failure where it is no such answer */
export function readFaults(body: unknown): v.InferOutput<typeof faultsSchema> {
	return readAnswer(faultsSchema, body);
}

/** Warnings that are shown; more would bury the rest. `--json` has all that the server lists. */
const MAX_WARNINGS = 20;

/** The report as text for people. */
export function describeReport(report: ImportReport): string {
	const { dry_run, counts, difference, book, issued } = report;
	const imported = Object.entries(counts).filter(([, count]) => count > 0);
	const lines =
		imported.length === 0
			? ["The file holds no entries, at most settings of the network."]
			: [
					dry_run ? "The file holds:" : "Imported:",
					...imported.map(([name, count]) => `  ${String(count).padStart(8)}  ${name.replaceAll("_", " ")}`),
				];
	lines.push(...describeDifference(difference, dry_run));
	const version = book.version === null ? "not published yet" : `version ${book.version}`;
	if (!dry_run)
		lines.push(
			`Campaign book: ${version}${book.complete ? "" : ", not complete: the rest follows within a minute"} (${counted(book.shards_written, "shard")} written)`,
		);
	if (issued.length > 0) {
		lines.push(
			"Issued, and shown only this once:",
			...issued.map(({ owner, kind, value }) => `  ${owner}  ${kind.replaceAll("_", " ")}: ${value}`),
		);
	}
	return [...lines, ...describeEnd(report)].join("\n");
}

/** Warnings of a change, and how to undo it. @param whole what a warning without a path is of */
export function describeEnd(
	{ id, dry_run, needs_confirmation, warnings, warning_count }: ImportReport,
	whole: "(the file)" | "(the entry)" = "(the file)",
): string[] {
	const lines: string[] = [];
	if (warning_count > 0) {
		const shown = describePlaces(warnings.slice(0, MAX_WARNINGS), warning_count, whole);
		lines.push(`${counted(warning_count, "warning")}:`, ...shown);
	}
	if (dry_run)
		lines.push(
			needs_confirmation
				? "Nothing was changed. It stops more than half of the campaigns, publishers or pairs of them, or more than doubles the prices of most campaigns, or overwrites what came later, and needs --yes."
				: "Nothing was changed.",
		);
	if (id !== null) lines.push(`Import ${id}: \`undo ${id}\` undoes it.`);
	return lines;
}

/** A line a place, one for how many more there are, and where to look for what is not there. */
export function describePlaces(places: readonly { path: string; message: string }[], count: number, whole = "(the file)"): string[] {
	const lines = places.map(({ path, message }) => `  ${path === "" ? whole : path}: ${message}`);
	return [
		...lines,
		...(count > places.length ? [`  … and ${count - places.length} more`] : []),
		...sayWhatLists(places.map(({ message }) => message)),
	];
}
