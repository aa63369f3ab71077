/** POST /operator/sign-in-links: a one-time link for someone of a publisher's, or of the staff, who is made where they are new. */
import { Hono } from "hono";
import { type Actor, actorOf } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { readBody, readDryRun } from "../../http/read-input.ts";
import type { LinkPurpose } from "../../lib/access-enums.ts";
import { jsonResponse } from "../../lib/http.ts";
import { isoTime } from "../../lib/time.ts";
import { type IssuedLink, invitePerson, issueSignInLink, linkUrl } from "./invite.ts";
import { findPersonByName, type KnownPerson, type NewPerson, type PeopleDeps } from "./people.ts";
import { type SignInLink, type SignInLinkPreview, type SignInLinkRequest, signInLinkRequestSchema } from "./people-answers.ts";
import { previewInvitation, previewSignInLink } from "./preview-link.ts";

export type SignInLinkDeps = PeopleDeps & {
	/** Origin of the console, without a trailing slash. */
	consoleUrl: string;
};

export function signInLinkRoutes(deps: SignInLinkDeps): Hono {
	const app = new Hono();
	app.post("/", async (c) => {
		const isDryRun = readDryRun(c.req.query());
		const wanted = await readWanted(deps, await readBody(c.req.raw, signInLinkRequestSchema));
		const answer = isDryRun ? await preview(deps, wanted) : showLink(deps.consoleUrl, await issue(deps, actorOf(c), wanted));
		return jsonResponse(answer);
	});
	return app;
}

/** Someone new, or someone who is there with the link that they are to get. */
type Wanted = { invited: NewPerson } | { known: KnownPerson; purpose: LinkPurpose };

/** @throws HttpError 422 that names what is at fault */
async function readWanted({ db }: SignInLinkDeps, request: SignInLinkRequest): Promise<Wanted> {
	const { publisher, staff, role, email, invitation } = request;
	if ((publisher === undefined) === (staff === undefined))
		throw invalidInput([{ path: "publisher", message: "or staff is required, and only one of both" }]);
	if (staff !== undefined && request.name !== undefined)
		throw invalidInput([{ path: "name", message: "is of a publisher's people alone" }]);
	const publisherId = publisher ?? null;
	const name = staff ?? request.name ?? "Owner";
	const known = await findPersonByName(db, publisherId, name);
	if (known === null) {
		const wanted = role ?? (publisherId === null ? undefined : "owner");
		if (wanted === undefined) throw invalidInput([{ path: "role", message: "is required of someone new" }]);
		return { invited: { publisherId, name, email: email ?? null, role: wanted } };
	}
	if (role !== undefined && role !== known.role)
		throw invalidInput([{ path: "role", message: `is ${known.role}, of someone who is there` }]);
	if (email !== undefined && email !== known.email)
		throw invalidInput([{ path: "email", message: "is another one, of someone who is there" }]);
	return { known, purpose: invitation === true ? "invitation" : "sign_in" };
}

function issue(deps: SignInLinkDeps, actor: Actor, wanted: Wanted): Promise<IssuedLink> {
	return "invited" in wanted ? invitePerson(deps, actor, wanted.invited) : issueSignInLink(deps, actor, wanted.known, wanted.purpose);
}

function preview(deps: SignInLinkDeps, wanted: Wanted): Promise<SignInLinkPreview> {
	return "invited" in wanted ? previewInvitation(deps, wanted.invited) : previewSignInLink(deps, wanted.known, wanted.purpose);
}

function showLink(consoleUrl: string, { person, token, purpose, expiresAt }: IssuedLink): SignInLink {
	const { id, publisherId, name, email, role } = person;
	return {
		person: { id, publisher: publisherId, name, email, role },
		purpose,
		url: linkUrl(consoleUrl, token),
		expires_at: isoTime(expiresAt),
	};
}
