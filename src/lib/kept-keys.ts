/** KV keys of what is kept there because its own place refused it. Not to be lost, and taken from there by the cron. */

/** All keys of clicks. */
export const KEPT_CLICKS_PREFIX = "click:";
/** `click:batch:{id}`: messages of clicks that the queue refused, as a JSON array; the id is the first one's. */
export const CLICK_BATCH_PREFIX = "click:batch:";
/** `click:kept:{id}`: one such message as JSON. */
export const KEPT_CLICK_PREFIX = "click:kept:";
/** `dead:{queue}:{message id}`: dead letters of one queue as a JSON array of `{id, body}`, which the database refused. */
export const KEPT_DEAD_LETTERS_PREFIX = "dead:";

/** Metadata of such a key: how much is under it. */
export type KeptMetadata = { count: number };
