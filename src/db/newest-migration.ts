/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0032_country_codes.sql";
