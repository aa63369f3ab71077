/** Links into the console that `npm start` prints: one for a publisher of the demo, one for the operator. */
import { type SignInLink, signInLinkSchema } from "../../src/console/session/people-answers.ts";
import { ACME } from "../demo/well-known.ts";
import { Failure } from "../local/failure.ts";
import { callOperator } from "../operator/call-operator.ts";
import { readAnswer } from "../operator/read-answer.ts";

export type DemoLinks = { publisher: string; operator: string };

/**
 * New ones with each start, which end those of the start before; null where people of these names were disabled or given other roles, or
 * where nothing can be written now: the database is being moved, or the cron has yet to let the one that it was moved to take writes.
 */
export async function issueDemoLinks(origin: string, operatorKey: string): Promise<DemoLinks | null> {
	const publisher = await issue(origin, operatorKey, { publisher: ACME.id, name: "Demo" });
	const operator = publisher === null ? null : await issue(origin, operatorKey, { staff: "demo", role: "admin" });
	return publisher === null || operator === null ? null : { publisher: publisher.url, operator: operator.url };
}

async function issue(origin: string, operatorKey: string, body: object): Promise<SignInLink | null> {
	const target = { origin, key: operatorKey, keySource: "this start" };
	const answer = await callOperator(target, "/operator/sign-in-links", JSON.stringify({ ...body, invitation: true }));
	if (answer.status === 422) return null;
	if (answer.status === 503) {
		console.error("The network database takes no writes now: links into the console are made by the next start, or by `sign-in-link`.");
		return null;
	}
	if (answer.status !== 200) throw new Failure(`No link into the console could be made: HTTP ${answer.status}. See the server's output.`);
	return readAnswer(signInLinkSchema, answer.body);
}
