/** When the test file began that runs now: whatever waited in the queues then is of another file. */
export const FILE_STARTED_AT = Date.now();
