/** Tables of the network database (binding DB). */
export * from "./adjustments.ts";
export * from "./book.ts";
export * from "./brands.ts";
export * from "./callbacks.ts";
export * from "./clicks.ts";
export * from "./conversions.ts";
export * from "./counters.ts";
export * from "./day-digests.ts";
export * from "./dead-letters.ts";
export * from "./imports.ts";
export * from "./ledger-checks.ts";
export * from "./platforms.ts";
export * from "./publishers.ts";
export * from "./reconciliation.ts";
export * from "./report-history.ts";
export * from "./retention.ts";
export * from "./settings.ts";
