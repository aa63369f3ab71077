/** The last file of drizzle/postgres: what `/ready` asks for. */
export const NEWEST_MIGRATION = "0036_networks.sql";

/** The last file of drizzle/network: the same on D1. */
export const NEWEST_D1_MIGRATION = "0053_networks.sql";
