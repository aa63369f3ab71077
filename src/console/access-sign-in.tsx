/** Signing in by Cloudflare Access, which stands before this address alone: staff of the address that it knows. */
import type { Context } from "hono";
import { HttpError } from "../lib/http.ts";
import { requestIdOf } from "../lib/request-id.ts";
import type { ConsoleDeps } from "./deps.ts";
import { page, seeOther } from "./page.ts";
import { findStaffByEmail } from "./session/access.ts";
import { writeCookie } from "./session/cookie.ts";
import { type Beginner, beginSession, cookieSeconds, endReplaced } from "./session/sessions.ts";

export const ACCESS_PAGES = [
	page({
		method: "GET",
		path: "/console/sign-in/access",
		needs: "nobody",
		title: "Sign in",
		async handle({ c, deps }) {
			const { name } = await demandStaff(deps, c);
			return (
				<form method="post" class="panel">
					<p>
						Cloudflare Access knows you as <strong>{name}</strong> of the operator's staff.
					</p>
					<button type="submit">Sign in</button>
				</form>
			);
		},
	}),
	page({
		method: "POST",
		path: "/console/sign-in/access",
		needs: "nobody",
		title: "Sign in",
		async handle({ c, deps, session, now }) {
			const person = await demandStaff(deps, c);
			const token = await beginSession(deps, { person, method: "access", requestId: requestIdOf(c.req.raw, now) });
			if (token === null) throw unknownStaff();
			await endReplaced(deps.db, session);
			return seeOther("/console", { "set-cookie": writeCookie(token, cookieSeconds(person.role)) });
		},
	}),
];

/** @throws HttpError 404 where Access is not set up, 403 where it proves nobody of the staff */
async function demandStaff({ db, access }: ConsoleDeps, c: Context): Promise<Beginner> {
	if (access === null) throw new HttpError(404, { error: "Not found" });
	const email = await access(c);
	const staff = email === null ? null : await findStaffByEmail(db, email);
	if (staff === null) throw unknownStaff();
	return staff;
}

function unknownStaff(): HttpError {
	return new HttpError(403, {
		error: "Forbidden",
		message:
			"Cloudflare Access has not said who you are, or knows you by an address that nobody of the staff has. An admin can invite you by it.",
	});
}
