/** A search for a part of a text that both engines answer alike. */
import { type SQL, sql } from "drizzle-orm";

/** Whether a text has another in it, whatever the case of Latin letters. D1 refuses patterns of LIKE that have more than 50 bytes. */
export function containsText(text: SQL, part: string): SQL {
	return sql`replace(lower(${text}), lower(${part}), '') <> lower(${text})`;
}
