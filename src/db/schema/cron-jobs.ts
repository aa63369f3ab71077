/** How the cron's jobs fare. */
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const cronJobs = sqliteTable("cron_jobs", {
	name: text().primaryKey(),
	/** When it last came to its end, to some minutes, or was first heard of. */
	endedAt: integer("ended_at").notNull(),
	/** Since when each of its runs has failed; null where the last one did not. */
	failingSince: integer("failing_since"),
});
