/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0040_pending_gross.sql";

/** The last file of drizzle/network: the same on D1. */
export const NEWEST_D1_MIGRATION = "0057_pending_gross.sql";
