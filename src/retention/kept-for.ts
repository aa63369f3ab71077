import { DAY_MS } from "../lib/time.ts";

/** How long an import can be undone, since what was before it is kept: in days. */
export const UNDO_DAYS = 30;

/** How long the longest session of the console lasts, however much it is used. */
export const MAX_SESSION_MS = 7 * DAY_MS;
