/** Who may have which page. */
import { mayAct } from "../http/actor.ts";
import { HttpError } from "../lib/http.ts";
import type { Page } from "./page.ts";
import { isFresh, isStaff, mayActForPublisher, type SeenPublisher, type Session } from "./session/sessions.ts";

/** The publisher whose page it is; null where it is none's. @throws HttpError 403 where they may not */
export function authorize({ needs }: Page, session: Session | null, isChange: boolean): SeenPublisher | null {
	if (typeof needs === "string") return null;
	if (session === null) throw forbidden();
	if ("anyone" in needs) return null;
	const { person, viewing } = session;
	if ("staff" in needs) {
		if (!isStaff(person.role) || !mayAct(person.role, needs.staff)) throw forbidden();
		return null;
	}
	const publisher = person.publisher ?? viewing;
	if (publisher === null) throw forbidden("This is a page of publishers. Choose whose console you want to see.");
	if (isStaff(person.role)) {
		if (isChange || needs.publisher !== "analyst")
			throw forbidden("You only look at this publisher's console: what is theirs, they change themselves.");
	} else if (!mayActForPublisher(person.role, needs.publisher)) throw forbidden();
	if (publisher.status === "suspended" && (isChange || needs.active) && !needs.evenSuspended) {
		const whose = isStaff(person.role) ? "This publisher's account" : "Your account";
		throw forbidden(
			isChange
				? `${whose} is suspended. You see what there is; ask your account manager about the rest.`
				: `${whose} is suspended: until it is active again, this page has nothing to show. What was earned and clicked is still there.`,
		);
	}
	return publisher;
}

export function forbidden(message?: string): HttpError {
	return new HttpError(403, { error: "Forbidden", ...(message !== undefined && { message }) });
}

/** Whether whoever is signed in has to confirm first that it is they. */
export function mustConfirm({ needs }: Page, session: Session | null, now: number): boolean {
	return typeof needs !== "string" && needs.fresh === true && (session === null || !isFresh(session, now));
}
