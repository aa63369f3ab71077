/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0002_weeks_of_clicks.sql";
