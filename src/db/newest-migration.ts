/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0005_book_written_at.sql";
