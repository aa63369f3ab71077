/** Answers of GET and POST /operator/replay. */
import * as v from "valibot";
import { QUEUE_NAMES } from "../../lib/enums.ts";
import { count, perQueue, time } from "../../lib/shapes.ts";

const deadLetterSchema = v.strictObject({
	id: v.string(),
	queue: v.picklist(QUEUE_NAMES),
	received_at: time,
	replayed_at: v.nullable(time),
	body: v.pipe(v.unknown(), v.description("The message.")),
});

export const deadLettersSchema = v.strictObject({ waiting: perQueue(count), letters: v.array(deadLetterSchema) });

export const replayedSchema = v.strictObject({
	/** What was sent again now, or would be. */
	replayed: perQueue(count),
	/** What still waits to be replayed. */
	remaining: perQueue(count),
	dry_run: v.boolean(),
	until: time,
});

export type DeadLetter = v.InferOutput<typeof deadLetterSchema>;
export type DeadLetters = v.InferOutput<typeof deadLettersSchema>;
export type Replayed = v.InferOutput<typeof replayedSchema>;
