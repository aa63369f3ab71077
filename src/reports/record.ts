/** A record as it is answered. Money is a decimal string, counts are numbers. */
export type ReportRecord = Record<string, string | number | null>;
