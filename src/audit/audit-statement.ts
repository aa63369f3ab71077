/** Keeps who did what: each verb that changes something writes it in the transaction of its change. */
import { type SQL, sql } from "drizzle-orm";
import { insertRows } from "../db/json-rows.ts";
import { audit } from "../db/schema/audit.ts";
import type { Actor } from "../http/actor.ts";
import type { AUDIT_ROLES, AuditSubject, AuditVerb } from "../lib/access-enums.ts";
import { newTimeOrderedId } from "../lib/ids.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** An operator, or a publisher by its id. */
export type AuditActor = Omit<Actor, "role"> & { role: (typeof AUDIT_ROLES)[number] };

export type AuditEntry = {
	verb: AuditVerb;
	/** What is changed: its kind, and its id there. */
	subjectKind: AuditSubject;
	subjectId: string;
	/** How it stands before and after, as JSON; what looks like a secret is left out of both. */
	before?: unknown;
	after?: unknown;
	/** How many of what were changed. */
	counts?: Readonly<Record<string, number>>;
};

export type AuditOptions = {
	/** Rows are written where this holds in the transaction: behind WHERE. */
	where?: SQL;
	/** JSON of `counts`, where the transaction itself counts: text such as `'{"callbacks":' || (SELECT …) || '}'`. */
	counts?: SQL;
};

/**
 * The statement that keeps one change, or several of one request. It belongs into the transaction of the change, before what it counts.
 * @param at Unix milliseconds
 */
export function auditStatement(
	actor: AuditActor,
	at: number,
	entries: AuditEntry | readonly AuditEntry[],
	{ where, counts }: AuditOptions = {},
): SQL {
	const rows = (isList(entries) ? entries : [entries]).map((entry) => rowOf(actor, at, entry));
	return insertRows(audit, rows, where === undefined ? sql`` : sql`AND ${where}`, counts === undefined ? {} : { counts });
}

function rowOf({ name, role, requestId }: AuditActor, at: number, entry: AuditEntry): typeof audit.$inferInsert {
	const { verb, subjectKind, subjectId, before, after, counts } = entry;
	return {
		id: newTimeOrderedId(at),
		at,
		actor: name,
		role,
		verb,
		subjectKind,
		subjectId,
		before: textOf(before),
		after: textOf(after),
		counts: counts === undefined ? null : JSON.stringify(counts),
		requestId,
	};
}

function textOf(value: unknown): string | null {
	return value === undefined || value === null ? null : JSON.stringify(withoutSecrets(value));
}

function isList(entries: AuditEntry | readonly AuditEntry[]): entries is readonly AuditEntry[] {
	return Array.isArray(entries);
}
