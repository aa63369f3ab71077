/** What is anyone's who is signed in: where to begin, leaving, and looking at a publisher's console. */
import { requestIdOf } from "../lib/request-id.ts";
import { page, seeOther } from "./page.ts";
import { FORGET_HEADERS } from "./session/cookie.ts";
import { endSession, type Session, viewAs } from "./session/sessions.ts";

/** The first page of a role. */
export function firstPath({ person, viewing }: Session): string {
	return person.publisher !== null || viewing !== null ? "/console/earnings" : "/console/operator";
}

export const HOME_PAGES = [
	page({ method: "GET", path: "/console", needs: "anyone", title: "Console", handle: ({ session }) => seeOther(firstPath(session)) }),
	page({
		method: "POST",
		path: "/console/sign-out",
		needs: "nobody",
		title: "Signed out",
		evenHeld: true,
		async handle({ deps, session }) {
			const isHeld = session !== null && (await deps.isHeld());
			if (session !== null && !isHeld) await endSession(deps.db, session.hash);
			return seeOther(`/console/sign-in?out=${isHeld ? "held" : "1"}`, FORGET_HEADERS);
		},
	}),
	page({
		method: "POST",
		path: "/console/view-as",
		needs: { staff: "viewer" },
		title: "A publisher's console",
		async handle({ c, deps, form, session, now }) {
			const id = form.get("publisher") || null;
			await viewAs(deps, session, id, requestIdOf(c.req.raw, now));
			return seeOther(id === null ? "/console/operator" : "/console/earnings");
		},
	}),
];
