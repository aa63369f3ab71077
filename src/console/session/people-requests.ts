/** What the endpoints of people take. Pure. */
import * as v from "valibot";
import { cursorOf } from "../../http/pages.ts";
import { nameOfAtMost } from "../../http/texts.ts";
import { PERSON_ROLES } from "../../lib/access-enums.ts";
import { pageLimit } from "../../lib/page-cursor.ts";

const id = nameOfAtMost(1_024);
const role = v.picklist(PERSON_ROLES, `must be one of ${PERSON_ROLES.join(", ")}`);

export const peopleQuerySchema = v.strictObject({
	publisher: v.optional(id),
	limit: pageLimit,
	cursor: cursorOf(v.strictTuple([v.pipe(v.string(), v.maxLength(64))])),
});
export type PeopleQuery = v.InferOutput<typeof peopleQuerySchema>;

export const roleRequestSchema = v.strictObject({
	role,
	was: v.optional(v.pipe(role, v.description("The role that they have as far as you know: where it is another one, nothing is changed."))),
});
export const signOutRequestSchema = v.strictObject({
	session: v.optional(v.pipe(id, v.description("This one alone: its `id`. Without it all of them, and links that were not used."))),
});
export const passkeyRequestSchema = v.strictObject({ passkey: v.pipe(id, v.description("Its `id`.")) });
