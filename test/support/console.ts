/** Asks the console for pages, as a browser does: signed in by a link that the operator's endpoint has issued. */
import { env, exports } from "cloudflare:workers";
import * as v from "valibot";
import { expect } from "vitest";
import { type SignInLink, signInLinkSchema } from "../../src/console/session/people-answers.ts";
import "./worker-env.ts";

/** wrangler.toml has it as BASE_URL. */
const CONSOLE = "http://localhost:8787";
/** What browsers say of a form of the console's own. */
export const OWN = { "sec-fetch-site": "same-origin", origin: CONSOLE };

/** Someone who is signed in: the cookie that their browser sends. */
export type Visitor = { cookie: string };

export async function issueLink(body: object): Promise<SignInLink> {
	const response = await exports.default.fetch(`${CONSOLE}/operator/sign-in-links`, {
		method: "POST",
		headers: { OperatorKey: env.OPERATOR_KEY },
		body: JSON.stringify(body),
	});
	const answer = await response.json();
	expect([response.status, answer]).toEqual([200, expect.anything()]);
	return v.parse(signInLinkSchema, answer);
}

/** @param body what the endpoint takes, such as `{ publisher: "acme", name: "Ada", role: "analyst" }` or `{ staff: "bo", role: "admin" }` */
export async function signIn(body: object): Promise<Visitor> {
	const { url } = await issueLink(body);
	const response = await exports.default.fetch(url, { method: "POST", headers: OWN, redirect: "manual" });
	expect([response.status, await response.text()]).toEqual([303, ""]);
	return { cookie: cookieOf(response) };
}

/** The cookie that an answer sets, as it is sent back. */
export function cookieOf(response: Response): string {
	const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
	return cookie;
}

export function get(path: string, visitor?: Visitor, headers: Record<string, string> = {}): Promise<Response> {
	return exports.default.fetch(CONSOLE + path, {
		headers: { ...headers, ...(visitor !== undefined && { cookie: visitor.cookie }) },
		redirect: "manual",
	});
}

/** Sends a form that was not sent before, from a page of the console unless `headers` say otherwise. */
export function post(
	path: string,
	visitor?: Visitor,
	form: Record<string, string> = {},
	headers: Record<string, string> = OWN,
): Promise<Response> {
	return exports.default.fetch(CONSOLE + path, {
		method: "POST",
		headers: { ...headers, ...(visitor !== undefined && { cookie: visitor.cookie }) },
		body: new URLSearchParams({ form: crypto.randomUUID(), ...form }),
		redirect: "manual",
	});
}

/** Status and text of a page, whose labels and faults lead to their own fields: no id stands twice. */
export async function shown(response: Promise<Response>): Promise<{ status: number; text: string }> {
	const { status, text } = await response.then(async (answer) => ({ status: answer.status, text: await answer.text() }));
	const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
	expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
	return { status, text };
}
