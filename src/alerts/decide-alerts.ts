/** Which problems the operator is told of: pure. A problem has begun, or ended, once two looks in a row say so. */
import type { problemAlerts } from "../db/schema/alerts.ts";
import { isoTime } from "../lib/time.ts";
import type { Problem } from "../operator/status/problems-answer.ts";

export type AlertRow = typeof problemAlerts.$inferSelect;

/** Looks in a row that make a problem begin or end. */
export const LOOKS = 2;

/** Body of an alert: type, time and data, as Standard Webhooks advises. */
export type Alert = {
	type: "problem.began" | "problem.ended";
	timestamp: string;
	data: Omit<Problem, "kind"> & { kind: string };
};

export type AlertChanges = { write: AlertRow[]; remove: string[] };

/**
 * @param stored   what earlier looks have left
 * @param problems what this look sees
 * @param newId    makes the id of an alert
 */
export function decideAlerts(
	stored: readonly AlertRow[],
	problems: readonly Alert["data"][],
	now: number,
	newId: () => string,
): AlertChanges {
	const rows = new Map(stored.map((row) => [row.kind, row]));
	const seen = new Map(problems.map((problem) => [problem.kind, problem]));
	const changes: AlertChanges = { write: [], remove: [] };
	for (const kind of new Set([...rows.keys(), ...seen.keys()])) {
		const before = rows.get(kind) ?? nothingKnown(kind);
		const after = look(before, seen.get(kind) ?? null, now, newId);
		if (isNothing(after)) {
			if (rows.has(kind)) changes.remove.push(kind);
		} else if (JSON.stringify(after) !== JSON.stringify(rows.get(kind))) changes.write.push(after);
	}
	return changes;
}

function look(row: AlertRow, problem: Alert["data"] | null, now: number, newId: () => string): AlertRow {
	const isSeen = problem !== null;
	const looks = isSeen === row.standing ? 0 : row.looks + 1;
	const hasTurned = looks >= LOOKS;
	const standing = hasTurned ? isSeen : row.standing;
	const after = { ...row, looks: hasTurned ? 0 : looks, standing };
	// What was tried and not answered may have arrived all the same: then nobody knows what the operator was told.
	const isUncertain = row.body !== null && row.tries > 0;
	// What has ended before anyone was told needs no telling; nor what has begun again before its end was told.
	if (standing === row.told && !isUncertain) return { ...after, body: null, messageId: null, tries: 0, nextTryAt: null };
	if (row.body !== null && !hasTurned) return after;
	const alert: Alert = {
		type: standing ? "problem.began" : "problem.ended",
		timestamp: isoTime(now),
		data: problem ?? { kind: row.kind, text: "has ended", since: null, count: 0, cost: null, command: null },
	};
	return { ...after, body: JSON.stringify(alert), messageId: newId(), tries: isUncertain ? 1 : 0, nextTryAt: now };
}

function nothingKnown(kind: string): AlertRow {
	return { kind, looks: 0, standing: false, told: false, body: null, messageId: null, tries: 0, nextTryAt: null };
}

function isNothing({ looks, standing, told, body }: AlertRow): boolean {
	return looks === 0 && !standing && !told && body === null;
}
