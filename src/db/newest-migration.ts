/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0041_gross_of_changes.sql";

/** The last file of drizzle/network: the same on D1. */
export const NEWEST_D1_MIGRATION = "0058_gross_of_changes.sql";
