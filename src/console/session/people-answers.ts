/** POST /operator/sign-in-links: what it takes, and its answer; and what /operator/people answers. */
import * as v from "valibot";
import { LINK_PURPOSES, PERSON_ROLES, SIGN_IN_METHODS } from "../../lib/access-enums.ts";
import { count, time } from "../../lib/shapes.ts";

/** A name as it is to stand in the audit. */
export const personName = v.pipe(
	v.string("must be a text"),
	// What nobody sees is not to tell two people apart.
	v.trim(),
	v.regex(/^[\p{L}\d][\p{L}\d ._@+'’-]{0,63}$/u, "must be a name of 1 to 64 letters, digits and marks such as . _ @ -"),
);
export const personEmail = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.toLowerCase(),
	v.email("must be an e-mail address"),
	v.maxLength(254, "is too long"),
);

/** Names either a publisher or a member of staff. */
export const signInLinkRequestSchema = v.strictObject({
	publisher: v.optional(
		v.pipe(v.string("must be a text"), v.nonEmpty("must not be blank"), v.description("For someone of this publisher's: its id.")),
	),
	name: v.optional(v.pipe(personName, v.description("Who at the publisher: `Owner` where nothing is said."))),
	staff: v.optional(v.pipe(personName, v.description("For a member of the operator's staff of this name."))),
	role: v.optional(
		v.pipe(
			v.picklist(PERSON_ROLES, `must be one of ${PERSON_ROLES.join(", ")}`),
			v.description("Of someone new: `owner`, the default, or `analyst` at a publisher; staff has to have one of the others."),
		),
	),
	email: v.optional(v.pipe(personEmail, v.description("Of someone new. Cloudflare Access knows staff by it."))),
	invitation: v.optional(
		v.pipe(v.boolean("must be true or false"), v.description("True makes it last 72 hours for someone who is there, too.")),
	),
});

const linkedPerson = {
	publisher: v.pipe(v.nullable(v.string()), v.description("Null for staff.")),
	name: v.string(),
	email: v.nullable(v.string()),
	role: v.picklist(PERSON_ROLES),
};
const purpose = v.pipe(v.picklist(LINK_PURPOSES), v.description("`invitation` lasts 72 hours, `sign_in` 15 minutes."));

export const signInLinkSchema = v.strictObject({
	person: v.strictObject({ id: v.string(), ...linkedPerson }),
	purpose,
	url: v.pipe(
		v.string(),
		v.description("Signs in once, whoever has it. It is shown here and never again, and ends the person's earlier ones."),
	),
	expires_at: time,
});

/** What a dry run answers. */
export const signInLinkPreviewSchema = v.strictObject({
	dry_run: v.literal(true),
	person: v.strictObject({ id: v.pipe(v.nullable(v.string()), v.description("Null of someone new.")), ...linkedPerson }),
	purpose,
	url: v.null(),
	expires_at: time,
	ends: v.pipe(count, v.description("Links of theirs that would open no more.")),
});

export type SignInLinkPreview = v.InferOutput<typeof signInLinkPreviewSchema>;
export type SignInLink = v.InferOutput<typeof signInLinkSchema>;
export type SignInLinkRequest = v.InferOutput<typeof signInLinkRequestSchema>;

const passkeySchema = v.strictObject({
	id: v.string(),
	name: v.pipe(v.string(), v.description("What its owner calls it.")),
	created_at: time,
	last_used_at: v.nullable(time),
});
const sessionSchema = v.strictObject({
	id: v.pipe(v.string(), v.description("Names it, and opens nothing.")),
	method: v.picklist(SIGN_IN_METHODS),
	created_at: time,
	last_seen_at: v.pipe(time, v.description("A minute behind at most.")),
	viewing: v.pipe(v.nullable(v.string()), v.description("The publisher whose console a member of staff looks at.")),
});
export const listedPersonSchema = v.strictObject({
	id: v.string(),
	publisher: v.pipe(v.nullable(v.string()), v.description("Null for staff.")),
	name: v.string(),
	email: v.nullable(v.string()),
	role: v.picklist(PERSON_ROLES),
	state: v.pipe(
		v.picklist(["active", "disabled"]),
		v.description("Who is disabled may not sign in. Nobody is removed: the audit names them."),
	),
	created_at: time,
});
export const peopleSchema = v.strictObject({ data: v.array(listedPersonSchema), limit: count, next_cursor: v.nullable(v.string()) });
export const personSchema = v.strictObject({
	...listedPersonSchema.entries,
	passkeys: v.array(passkeySchema),
	sessions: v.pipe(v.array(sessionSchema), v.description("Those that are open, the newest first.")),
});
export const changedPersonSchema = v.strictObject({
	dry_run: v.boolean(),
	person: v.pipe(personSchema, v.description("As they are then.")),
});

export type ListedPerson = v.InferOutput<typeof listedPersonSchema>;
export type ShownPerson = v.InferOutput<typeof personSchema>;
export type ChangedPerson = v.InferOutput<typeof changedPersonSchema>;
