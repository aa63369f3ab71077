/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0038_clicks_unseen.sql";

/** The last file of drizzle/network: the same on D1. */
export const NEWEST_D1_MIGRATION = "0055_clicks_unseen.sql";
