/** The body of a request about keys. */
import * as v from "valibot";
import { instant } from "../../http/datetime.ts";
import { readBody, readInput } from "../../http/read-input.ts";
import { nameOfAtMost } from "../../http/texts.ts";
import { CREDENTIAL_KINDS, OPERATOR_ROLES } from "../../lib/access-enums.ts";
import { PUBLISHER_IDENTITY } from "../../lib/enums.ts";

export const MAX_OVERLAP_HOURS = 24 * 90;
export const DEFAULT_OVERLAP_HOURS = 24;

const text = nameOfAtMost(2_000);
const kind = v.picklist(CREDENTIAL_KINDS, `must be one of ${CREDENTIAL_KINDS.join(", ")}`);
const keyId = v.pipe(v.string("must be a text"), v.regex(/^[0-9a-f]{12}$/, "must be the 12 characters that `list` shows"));

const expires = v.pipe(
	instant,
	v.description(
		"When the key ends; of operator keys alone. Without it an issued one has no end, and a rotated one that of the key before.",
	),
);

/** `owner` is the publisher's id in the network file, the platform's for a platform key, or the name of whoever is to hold an operator key. */
export const keyRequestSchemas = {
	issue: v.strictObject({
		kind,
		owner: text,
		role: v.optional(
			v.pipe(
				v.picklist(OPERATOR_ROLES, `must be one of ${OPERATOR_ROLES.join(", ")}`),
				v.description("Of an operator key, which has to have one: what its holder may do."),
			),
		),
		expires: v.optional(expires),
	}),
	rotate: v.strictObject({
		kind,
		owner: text,
		/** How long what is replaced stays valid; 0 ends it at once. */
		overlap_hours: v.optional(
			v.pipe(
				v.number("must be a number of hours"),
				v.minValue(0, "must not be negative"),
				v.maxValue(MAX_OVERLAP_HOURS, `must be at most ${MAX_OVERLAP_HOURS}`),
			),
			DEFAULT_OVERLAP_HOURS,
		),
		expires: v.optional(expires),
		/** The new publisher id or identity; absent for one that is made up. Keys are always made up. */
		value: v.optional(
			v.pipe(v.string("must be a text"), v.regex(PUBLISHER_IDENTITY, "must have 1 to 64 letters, digits, underscores or hyphens")),
		),
	}),
	revoke: v.strictObject({
		kind,
		owner: text,
		/** Which one: the id of a key, or a former name; absent for all of them. */
		id: v.optional(v.union([keyId, v.pipe(v.string(), v.maxLength(64))])),
	}),
	list: v.strictObject({ kind: v.optional(kind), owner: v.optional(text) }),
} as const;

export type KeyVerb = keyof typeof keyRequestSchemas;
export type KeyRequest<Verb extends KeyVerb> = v.InferOutput<(typeof keyRequestSchemas)[Verb]>;

/** Reads the body of a request about keys. @throws HttpError 422 with a path and a message for each fault */
export function readKeyRequest<Verb extends KeyVerb>(verb: Verb, request: Request): Promise<KeyRequest<Verb>> {
	return readBody(request, keyRequestSchemas[verb] as v.GenericSchema<unknown, KeyRequest<Verb>>, messageOf);
}

/** The same of what a form has sent. @throws HttpError 422 */
export function readKeyInput<Verb extends KeyVerb>(verb: Verb, input: unknown): KeyRequest<Verb> {
	return readInput(keyRequestSchemas[verb] as v.GenericSchema<unknown, KeyRequest<Verb>>, input, messageOf);
}

function messageOf(issue: v.BaseIssue<unknown>): string {
	if (issue.received === "undefined") return "is required";
	if (issue.expected === "never") return "is not a field of this request";
	// Valibot's own messages quote what was received, which may be a key.
	return issue.message.startsWith("Invalid") ? "is not valid" : issue.message;
}
