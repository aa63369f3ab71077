/** What a bid request may hold; benchmarks hold the costs of these limits. */

/** Largest bid request body, in bytes, after decompression. */
export const MAX_BODY_BYTES = 128 * 1024;

/** Most names and values of a body that is longer than MAX_UNCOUNTED_BYTES: twice the longest list that an auction reads, and more. Escapes of texts count, too. */
export const MAX_VALUES = 5_000;

/** A body up to this length, in bytes, is not counted: an ordinary bid pays nothing, and whatever it holds is parsed within an auction's cost. */
export const MAX_UNCOUNTED_BYTES = 16 * 1024;
