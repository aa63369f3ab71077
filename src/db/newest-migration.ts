/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0033_taken_back.sql";

/** The last file of drizzle/network: the same on D1. */
export const NEWEST_D1_MIGRATION = "0051_taken_back.sql";
