/** Body of POST /operator/erase. */
import * as v from "valibot";
import { cursorOf, writeCursor } from "../../http/pages.ts";
import { normaliseClickId } from "../../lib/click-id.ts";
import type { KeptPosition } from "./erase-kept.ts";
import type { RefusedPosition } from "./erase-refused.ts";

/** Longest value that a click's row has of one parameter. */
const MAX_UID_LENGTH = 255;
/** Longest key of an object that R2 takes. */
const MAX_KEY_LENGTH = 1_024;
const CLICK = "must be a click hash (32 hexadecimal digits) or the id of a click";
const CLICK_FORMAT = /^(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const uid = v.pipe(
	v.string("must be a text"),
	v.nonEmpty("must not be empty"),
	v.maxLength(MAX_UID_LENGTH, `must have at most ${MAX_UID_LENGTH} characters`),
);
/** As it is asked for: that is what the receipt's hash is made of. */
const click = v.pipe(
	v.string(CLICK),
	v.check((text) => CLICK_FORMAT.test(readClick(text)), CLICK),
);

/** A click hash, or the id of a click, as it is stored. */
export function readClick(text: string): string {
	return normaliseClickId(text)?.toLowerCase() ?? "";
}

/** As keys are written: `clicks/2026-11-18/ID.ndjson`. */
const object = v.pipe(v.string(), v.maxLength(MAX_KEY_LENGTH), v.regex(/^[\x20-\x7e]*$/));
/** The object of the archive, or nothing; and what of the list of KV's keys, or which refused postback, of which platform if of one. */
const position = v.union([
	v.strictTuple([object]),
	v.strictTuple([object, v.literal("kept"), v.picklist([0, 1]), v.string()]),
	v.strictTuple([object, v.literal("refused"), v.string(), v.string()]),
	v.strictTuple([object, v.literal("refused_of_nobody"), v.string()]),
]);
type Position = v.InferOutput<typeof position>;

/** Where an answer that was not complete has stopped: behind which object of the archive, and within what KV keeps, or refused postbacks. */
export type ErasePosition = { archive: string | null; kept: KeptPosition | null; refused: RefusedPosition | null };

export function writePosition({ archive, kept, refused }: ErasePosition): string {
	if (kept !== null) return writeCursor([archive ?? "", "kept", ...kept]);
	if (refused === null) return writeCursor([archive ?? ""]);
	const { platform, id } = refused;
	return writeCursor(platform === null ? [archive ?? "", "refused_of_nobody", id] : [archive ?? "", "refused", platform, id]);
}

export function readPosition(cursor: Position = [""]): ErasePosition {
	const begun: ErasePosition = { archive: cursor[0] === "" ? null : cursor[0], kept: null, refused: null };
	if (cursor.length === 1) return begun;
	if (cursor[1] === "kept") return { ...begun, kept: [cursor[2], cursor[3]] };
	return { ...begun, refused: cursor[1] === "refused" ? { platform: cursor[2], id: cursor[3] } : { platform: null, id: cursor[2] } };
}

export const eraseSchema = v.pipe(
	v.strictObject({
		uid: v.pipe(v.optional(uid), v.description("The user's id at its exchange, as `uid` of clicks.")),
		click: v.pipe(v.optional(click), v.description("A click hash, or the id of a click, as the trace shows them.")),
		/** `next_cursor` of an earlier answer that was not complete. */
		cursor: cursorOf(position),
	}),
	v.check(({ uid: user, click: one }) => (user === undefined) !== (one === undefined), "must name either uid or click"),
);

/** Whose data it is. */
export type Subject = { uid: string } | { click: string };
