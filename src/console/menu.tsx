/** What stands around a page: the links of whoever sees it, who they are, and whose console is shown to staff. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { mayAct } from "../http/actor.ts";
import type { Page } from "./page.ts";
import { isStaff, mayActForPublisher, type Session } from "./session/sessions.ts";
import type { LayoutProps, LinkGroup } from "./ui/layout.tsx";
import { OPERATOR_MENU, PUBLISHER_MENU } from "./ui/navigation.ts";

/** Whether it is of a publisher's console, as staff may look at one. */
function isOfPublisher({ needs }: Page): boolean {
	return typeof needs !== "string" && "publisher" in needs;
}

/** The menu of someone, with the pages that they may see: of a suspended publisher those alone that are still shown. */
function menuOf(pages: readonly Page[], session: Session, asPublisher: boolean): LinkGroup[] {
	const { role } = session.person;
	const maySee = ({ href }: { href: string }) =>
		pages.some(({ method, path, needs }) => {
			if (path !== href || method !== "GET" || needs === "nobody") return false;
			if (needs === "anyone" || "anyone" in needs) return true;
			if ("publisher" in needs && needs.active && isSuspended(session)) return false;
			if ("publisher" in needs) return mayActForPublisher(isStaff(role) ? "analyst" : role, needs.publisher);
			return isStaff(role) && mayAct(role, needs.staff);
		});
	return (asPublisher ? PUBLISHER_MENU : OPERATOR_MENU).flatMap((group) => {
		const links = group.links.filter(maySee);
		return links.length === 0 ? [] : [{ ...group, links }];
	});
}

/** What the layout shows of whoever is signed in. */
export function aroundPage(pages: readonly Page[], page: Page, session: Session | null): Pick<LayoutProps, "menu" | "person" | "banner"> {
	if (session === null) return {};
	const { person, viewing } = session;
	const asPublisher = person.publisher !== null || (viewing !== null && isOfPublisher(page));
	const role = person.publisher === null ? `staff, ${person.role}` : `${person.role}, ${person.publisher.name}`;
	return {
		menu: menuOf(pages, session, asPublisher),
		person: { name: person.name, role },
		banner: <Banner session={session} />,
	};
}

function isSuspended({ person, viewing }: Session): boolean {
	return (person.publisher ?? viewing)?.status === "suspended";
}

/** Says whose console staff looks at, with the way back; and that a publisher is suspended. */
function Banner({ session }: { session: Session }): JSX.Element | null {
	const { viewing } = session;
	if (viewing === null && !isSuspended(session)) return null;
	return (
		<aside class="banner">
			{viewing === null ? null : (
				<form method="post" action="/console/view-as">
					<p>
						You look at the console of <strong>{viewing.name}</strong>, and can change nothing there.
					</p>
					<button type="submit">Back to your own</button>
				</form>
			)}
			{isSuspended(session) ? (
				<p>
					This account is suspended: it gets no bids, and nothing of what it sends is paid. There are no links, brands and products to
					promote, and nothing can be changed but to take access away, until it is active again.
				</p>
			) : null}
		</aside>
	);
}
