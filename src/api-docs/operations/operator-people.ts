/** Who may sign in to the console. The schemas are the ones that read the requests, and that the answers are typed by. */
import * as v from "valibot";
import { changedPersonSchema, listedPersonSchema, peopleSchema, personSchema } from "../../console/session/people-answers.ts";
import { passkeyRequestSchema, roleRequestSchema, signOutRequestSchema } from "../../console/session/people-requests.ts";
import { MAX_SMALL_BYTES } from "../../operator/routes.ts";
import type { Operation } from "../operation.ts";
import { named } from "../schemas.ts";
import { BEING_MOVED, DRY_RUN, errorSchema, faultsAnswer, largerThan, missing, PAGING, UNAUTHORIZED } from "./shapes.ts";

named("ListedPerson", listedPersonSchema);
const PERSON = named("Person", personSchema);

const ADMINS = { tag: "Operator", host: "base", credential: "OperatorKey", role: "admin" } as const;
const ID = { in: "path", name: "id", required: true, description: "The person.", schema: v.string() } as const;
const HEADERS = { "cache-control": "Always no-store." } as const;
const NOBODY = missing("There is nobody of this id.", "There is no such person.");

const changed = {
	200: { description: "Done.", headers: HEADERS, content: { schema: named("ChangedPerson", changedPersonSchema) } },
	401: UNAUTHORIZED,
	404: NOBODY,
	413: largerThan(MAX_SMALL_BYTES),
	422: faultsAnswer,
	503: BEING_MOVED,
} as const;

export const OPERATOR_PEOPLE_OPERATIONS: readonly Operation[] = [
	{
		...ADMINS,
		method: "get",
		path: "/operator/people",
		id: "listPeople",
		summary: "Who may sign in to the console",
		description:
			"Of a publisher, or of the operator's staff, in the order in which they were invited: `POST /operator/sign-in-links` invites.",
		parameters: [
			{
				in: "query",
				name: "publisher",
				description: "A publisher's id; without it, the operator's staff.",
				schema: v.optional(v.string()),
			},
			...PAGING,
		],
		answers: {
			200: { description: "A page of people.", headers: HEADERS, content: { schema: named("People", peopleSchema) } },
			401: UNAUTHORIZED,
			422: faultsAnswer,
		},
	},
	{
		...ADMINS,
		method: "get",
		path: "/operator/people/{id}",
		id: "readPerson",
		summary: "Someone's passkeys and open sessions",
		description: "No secret of either is told.",
		parameters: [ID],
		answers: {
			200: { description: "The person.", headers: HEADERS, content: { schema: PERSON } },
			401: UNAUTHORIZED,
			404: NOBODY,
			422: faultsAnswer,
		},
	},
	{
		...ADMINS,
		method: "post",
		path: "/operator/people/{id}/role",
		id: "changeRole",
		summary: "Give someone another role",
		description: "It holds from their next page on. The last admin of the staff stays one.",
		parameters: [ID, DRY_RUN],
		body: { required: true, contents: [{ schema: roleRequestSchema, example: { role: "analyst", was: "owner" } }] },
		answers: {
			...changed,
			412: {
				description: "They have another role than `was`.",
				content: { schema: errorSchema, example: { error: "Conflict", message: "Their role is analyst by now." } },
			},
		},
	},
	{
		...ADMINS,
		method: "post",
		path: "/operator/people/{id}/disable",
		id: "disablePerson",
		summary: "Keep someone out",
		description: "They are signed out everywhere, their links end, and they may not sign in any more. Of the staff, the last admin stays.",
		parameters: [ID, DRY_RUN],
		answers: changed,
	},
	{
		...ADMINS,
		method: "post",
		path: "/operator/people/{id}/enable",
		id: "enablePerson",
		summary: "Let someone sign in again",
		description: "By a new link, or the passkeys that they have.",
		parameters: [ID, DRY_RUN],
		answers: changed,
	},
	{
		...ADMINS,
		method: "post",
		path: "/operator/people/{id}/sign-out",
		id: "endSessions",
		summary: "Sign someone out",
		description: "Ends one session, or all of them and the links that were not used. They may sign in again.",
		parameters: [ID, DRY_RUN],
		body: { required: true, contents: [{ schema: signOutRequestSchema, example: {} }] },
		answers: { ...changed, 404: missing("There is nobody of this id, or no such session.", "There is no such session.") },
	},
	{
		...ADMINS,
		method: "post",
		path: "/operator/people/{id}/remove-passkey",
		id: "removePasskey",
		summary: "Remove someone's passkey",
		description: "It opens nothing any more, and sessions that any of their passkeys began end. Those of a link go on: sign them out.",
		parameters: [ID, DRY_RUN],
		body: { required: true, contents: [{ schema: passkeyRequestSchema, example: { passkey: "n4oJ6zZqTn2u0cX1Zk8u0g" } }] },
		answers: { ...changed, 404: missing("There is nobody of this id, or no such passkey.", "There is no such passkey.") },
	},
];
