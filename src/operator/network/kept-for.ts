/** How long an import can be undone. */
export const UNDO_DAYS = 30;
