/** As wrangler.toml has it for the binding FAILED_KEYS. */
export const FAILED_KEYS_LIMIT = 300;
export const FAILED_KEYS_SECONDS = 60;
