/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0026_weeks_without_a_scan.sql";
