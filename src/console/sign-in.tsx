/** Signing in: by a one-time link, or where there is one, by a passkey. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { requestIdOf } from "../lib/request-id.ts";
import { firstPath } from "./home.tsx";
import { page, seeOther, type View, view } from "./page.ts";
import { PASSKEY_SCRIPTS, SignInByPasskey } from "./passkeys.tsx";
import { writeCookie } from "./session/cookie.ts";
import { consumeLink, findLink, type LinkFault } from "./session/links.ts";
import { readNext } from "./session/origin.ts";
import { cookieSeconds, endReplaced } from "./session/sessions.ts";
import { Notice } from "./ui/messages.tsx";

export const SIGN_IN_PAGES = [
	page({
		method: "GET",
		path: "/console/sign-in",
		needs: "nobody",
		title: "Sign in",
		handle({ deps, session, query }) {
			if (session !== null) return seeOther(readNext(query.next) ?? firstPath(session));
			return view(
				{ scripts: PASSKEY_SCRIPTS },
				<>
					{query.ended === undefined ? null : (
						<Notice title="Your session has ended.">It was too long ago, or someone ended it. Nothing was changed since.</Notice>
					)}
					{query.out === undefined ? null : <Notice tone="good" title="You are signed out." />}
					{query.out !== "held" ? null : (
						<Notice title="Only this browser has forgotten you.">
							The database is being moved, so that your session could not be ended: it ends unused, after 12 hours at most.
						</Notice>
					)}
					<div class="panel">
						<SignInByPasskey next={readNext(query.next)} />
						<p>A link signs you in once, for 15 minutes. Open the one that you were sent, or ask for another:</p>
						<ul>
							<li>At a publisher, ask your account manager, or an owner among your colleagues.</li>
							<li>
								On the operator's staff, ask an admin, or run <code>npm run operator -- sign-in-link --staff NAME</code>.
							</li>
							{deps.access === null ? null : (
								<li>
									Staff may also sign in <a href="/console/sign-in/access">by Cloudflare Access</a>.
								</li>
							)}
						</ul>
					</div>
				</>,
			);
		},
	}),
	page({
		method: "GET",
		path: "/console/sign-in/:token",
		needs: "nobody",
		title: "Sign in",
		async handle({ deps, now, param }) {
			const found = await findLink(deps.db, param("token"), now);
			return typeof found === "string" ? (
				endedLink(found)
			) : (
				<SignInForm name={found.person.name} of={found.person.publisher?.name ?? "the operator's staff"} />
			);
		},
	}),
	page({
		method: "POST",
		path: "/console/sign-in/:token",
		needs: "nobody",
		title: "Sign in",
		async handle({ c, deps, session, now, param }) {
			const used = await consumeLink(deps, param("token"), requestIdOf(c.req.raw, now));
			if (typeof used === "string") return endedLink(used);
			await endReplaced(deps.db, session);
			return seeOther("/console", { "set-cookie": writeCookie(used.token, cookieSeconds(used.person.role)) });
		},
	}),
];

/** A button, since mail scanners open links. It posts to this very address. */
function SignInForm({ name, of }: { name: string; of: string }): JSX.Element {
	return (
		<form method="post" class="panel">
			<p>
				This link signs in <strong>{name}</strong> of {of}, once.
			</p>
			<button type="submit">Sign in</button>
		</form>
	);
}

const ENDED: Record<LinkFault, string> = {
	used: "This link was used already, or a newer one has replaced it. If it was not you who used it, tell whoever sent it at once.",
	expired: "This link is too old. An invitation works for 72 hours, every other link for 15 minutes.",
	unknown: "This link is none of ours: part of it may be missing. Copy all of it into the address bar.",
	disabled: "Whoever this link is for may not sign in any more.",
};

function endedLink(fault: LinkFault): View {
	return view(
		{ status: 410, title: "This link does not open any more" },
		<>
			<p>{ENDED[fault]}</p>
			<p>
				Ask whoever sent it for another one, or <a href="/console/sign-in">see how to sign in</a>.
			</p>
		</>,
	);
}
