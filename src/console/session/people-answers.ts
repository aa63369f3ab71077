/** POST /operator/sign-in-links: what it takes, and its answer. */
import * as v from "valibot";
import { LINK_PURPOSES, OPERATOR_ROLES, PERSON_ROLES, PUBLISHER_ROLES } from "../../lib/enums.ts";
import { time } from "../../lib/shapes.ts";

/** A name as it is to stand in the audit. */
export const personName = v.pipe(
	v.string("must be a text"),
	v.regex(/^[\p{L}\d][\p{L}\d ._@+'’-]{0,63}$/u, "must be a name of 1 to 64 letters, digits and marks such as . _ @ -"),
);
export const personEmail = v.pipe(
	v.string("must be a text"),
	v.trim(),
	v.toLowerCase(),
	v.email("must be an e-mail address"),
	v.maxLength(254, "is too long"),
);

const more = {
	invitation: v.optional(
		v.pipe(v.boolean("must be true or false"), v.description("True makes it last 72 hours for someone who is there, too.")),
	),
	email: v.optional(v.pipe(personEmail, v.description("Of someone new. Cloudflare Access knows staff by it."))),
};

export const signInLinkRequestSchema = v.union(
	[
		v.strictObject({
			publisher: v.pipe(v.string("must be a text"), v.nonEmpty("must not be blank"), v.description("The publisher's id.")),
			name: v.pipe(v.optional(personName, "Owner"), v.description("Whose link it is: someone of the publisher's.")),
			role: v.optional(v.pipe(v.picklist(PUBLISHER_ROLES), v.description("Of someone new: `owner` where nothing is said."))),
			...more,
		}),
		v.strictObject({
			staff: v.pipe(personName, v.description("Whose link it is: a member of the operator's staff.")),
			role: v.optional(v.pipe(v.picklist(OPERATOR_ROLES), v.description("Of someone new, who has to have one."))),
			...more,
		}),
	],
	"must name a publisher or a member of staff",
);

export const signInLinkSchema = v.strictObject({
	person: v.strictObject({
		id: v.string(),
		publisher: v.pipe(v.nullable(v.string()), v.description("Null for staff.")),
		name: v.string(),
		email: v.nullable(v.string()),
		role: v.picklist(PERSON_ROLES),
	}),
	purpose: v.pipe(v.picklist(LINK_PURPOSES), v.description("`invitation` lasts 72 hours, `sign_in` 15 minutes.")),
	url: v.pipe(
		v.string(),
		v.description("Signs in once, whoever has it. It is shown here and never again, and ends the person's earlier ones."),
	),
	expires_at: time,
});

export type SignInLink = v.InferOutput<typeof signInLinkSchema>;
export type SignInLinkRequest = v.InferOutput<typeof signInLinkRequestSchema>;
