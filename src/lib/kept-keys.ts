/** KV keys of what is kept there because its own place refused it. Not to be lost, and taken from there by the cron. */

/** `click:kept:{id}`: a click's message as JSON, which the queue refused. */
export const KEPT_CLICK_PREFIX = "click:kept:";
/** `dead:{queue}:{message id}`: dead letters of one queue as a JSON array of `{id, body}`, which the database refused. */
export const KEPT_DEAD_LETTERS_PREFIX = "dead:";

/** Metadata of such a key: how much is under it. */
export type KeptMetadata = { count: number };
