import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { AUDIT_ROLES } from "../../lib/access-enums.ts";

/** Who did what: one row a change of an operator's or of a publisher's person, and what publishers have sent again. Rows are only ever added; triggers refuse anything else. */
export const audit = sqliteTable(
	"audit",
	{
		/** Time-ordered. */
		id: text().primaryKey(),
		at: integer().notNull(),
		/** Name of the operator key or the member of staff, or `operator` for the holder of OPERATOR_KEY; a publisher's person with the publisher's id; publishers.id where the role is `publisher`. */
		actor: text().notNull(),
		role: text({ enum: AUDIT_ROLES }).notNull(),
		/** Id of the operation, as /openapi-operator.json has it. */
		verb: text().notNull(),
		/** What was changed: a kind such as `publisher`, and its id. */
		subjectKind: text("subject_kind").notNull(),
		subjectId: text("subject_id").notNull(),
		/** JSON without secrets; null where there is nothing to say. */
		before: text(),
		after: text(),
		/** JSON object of whole numbers. */
		counts: text(),
		requestId: text("request_id").notNull(),
	},
	(table) => [
		index("audit_by_actor").on(table.actor, table.id),
		index("audit_by_subject").on(table.subjectId, table.id),
		index("audit_by_verb").on(table.verb, table.id),
	],
);
