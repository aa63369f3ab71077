/** POST /operator/sign-in-links: a one-time link for someone of a publisher's, or of the staff, who is made where they are new. */
import { Hono } from "hono";
import { actorOf } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { readBody } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { findPersonByName, type IssuedLink, invitePerson, issueSignInLink, linkUrl, type PeopleDeps } from "./people.ts";
import { type SignInLink, type SignInLinkRequest, signInLinkRequestSchema } from "./people-answers.ts";

export type SignInLinkDeps = PeopleDeps & {
	/** Origin of the console, without a trailing slash. */
	consoleUrl: string;
};

export function signInLinkRoutes(deps: SignInLinkDeps): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const issued = await issue(deps, actorOf(c), await readBody(c.req.raw, signInLinkRequestSchema));
		return jsonResponse(showLink(deps.consoleUrl, issued), 200, { "cache-control": "no-store" });
	});
	return app;
}

async function issue(deps: SignInLinkDeps, actor: ReturnType<typeof actorOf>, request: SignInLinkRequest): Promise<IssuedLink> {
	const { publisher, staff, role, email, invitation } = request;
	if ((publisher === undefined) === (staff === undefined))
		throw invalidInput([{ path: "publisher", message: "or staff is required, and only one of both" }]);
	if (staff !== undefined && request.name !== undefined)
		throw invalidInput([{ path: "name", message: "is of a publisher's people alone" }]);
	const publisherId = publisher ?? null;
	const name = staff ?? request.name ?? "Owner";
	const known = await findPersonByName(deps.db, publisherId, name);
	if (known === null) {
		const wanted = role ?? (publisherId === null ? undefined : "owner");
		if (wanted === undefined) throw invalidInput([{ path: "role", message: "is required of someone new" }]);
		return invitePerson(deps, actor, { publisherId, name, email: email ?? null, role: wanted });
	}
	if (role !== undefined && role !== known.role)
		throw invalidInput([{ path: "role", message: `is ${known.role}, of someone who is there` }]);
	if (email !== undefined && email !== known.email)
		throw invalidInput([{ path: "email", message: "is another one, of someone who is there" }]);
	return issueSignInLink(deps, actor, known, invitation === true ? "invitation" : "sign_in");
}

function showLink(consoleUrl: string, { person, token, purpose, expiresAt }: IssuedLink): SignInLink {
	const { id, publisherId, name, email, role } = person;
	return {
		person: { id, publisher: publisherId, name, email, role },
		purpose,
		url: linkUrl(consoleUrl, token),
		expires_at: new Date(expiresAt).toISOString(),
	};
}
