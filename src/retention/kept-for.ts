/** How long an import can be undone, since what was before it is kept: in days. */
export const UNDO_DAYS = 30;
