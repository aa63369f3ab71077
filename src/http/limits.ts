import { SECOND_MS } from "../lib/time.ts";

/** After this time a request begins no further step of what another one may go on with. */
export const MAX_WORK_MS = 5 * SECOND_MS;
/** As wrangler.toml has it for the binding FAILED_KEYS. */
export const FAILED_KEYS_LIMIT = 300;
export const FAILED_KEYS_SECONDS = 60;
/** As wrangler.toml has it for the binding PUBLISHERS. */
export const PUBLISHER_LIMIT = 600;
export const PUBLISHER_SECONDS = 60;
/** Calls a minute by which a publisher makes us call its address. */
export const CALLING_LIMIT = 10;
