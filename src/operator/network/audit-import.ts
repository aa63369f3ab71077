/** What the audit keeps of an import: one row of it, and one of each changed entry, up to a thousand of a section. */
import type { SQL } from "drizzle-orm";
import { type AuditEntry, auditStatement } from "../../audit/audit-statement.ts";
import type { AuditSubject } from "../../lib/access-enums.ts";
import type { ChangeRecord } from "./difference.ts";
import type { DifferenceSection } from "./difference-answer.ts";
import type { FileEntry } from "./export-entry.ts";
import type { Stamp } from "./network-version.ts";
import { shortenBoth } from "./shorten-change.ts";

const SUBJECTS: Readonly<Record<DifferenceSection, AuditSubject>> = {
	traffic: "network",
	epc_learning: "network",
	platforms: "platform",
	publishers: "publisher",
	brands: "brand",
	campaigns: "campaign",
	exchange_rates: "exchange_rate",
	products: "product",
	seller_products: "seller_product",
};

/** Characters of JSON of a value that is kept whole, and of all rows of one statement. */
const MAX_VALUE = 500;
const MAX_STATEMENT = 400_000;

/** A change as the audit keeps it: without what makes it large, since an import holds many until it is taken over. */
export type AuditedChange = Pick<ChangeRecord, "section" | "id"> & { before: FileEntry | null; after: FileEntry | null };

export function auditedChange({ section, id, before, after = null, added }: ChangeRecord): AuditedChange {
	const present = added === undefined ? after : added();
	return { section, id, ...shorten(before, present) };
}

/** @param counts entries that were added, changed and removed */
export function auditImport(stamp: Stamp, counts: Readonly<Record<string, number>>, changes: readonly AuditedChange[]): SQL[] {
	const { verb, fileHash, undoes, version } = stamp;
	const after = { version, ...(fileHash !== null && { sha256: fileHash }), ...(undoes !== null && { undoes }) };
	const chunks: AuditEntry[][] = [[{ verb, subjectKind: "import", subjectId: stamp.id, counts, after }]];
	let characters = 0;
	for (const { section, id, before, after: now } of changes) {
		const entry: AuditEntry = { verb, subjectKind: SUBJECTS[section], subjectId: id, before, after: now };
		characters += JSON.stringify(entry).length;
		if (characters > MAX_STATEMENT) {
			chunks.push([]);
			characters = 0;
		}
		chunks.at(-1)?.push(entry);
	}
	return chunks.map((entries) => auditStatement(stamp.actor, stamp.at, entries));
}

function shorten(before: FileEntry | null, after: FileEntry | null): Pick<AuditedChange, "before" | "after"> {
	const fields = Object.keys({ ...before, ...after });
	const values = fields.map((field) => [field, shortenBoth(before?.[field], after?.[field], MAX_VALUE)] as const);
	return {
		before: before && Object.fromEntries(values.map(([field, [old]]) => [field, old])),
		after: after && Object.fromEntries(values.map(([field, [, present]]) => [field, present])),
	};
}
