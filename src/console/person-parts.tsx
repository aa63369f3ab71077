/** What both consoles show of people who may sign in: their links, and what puts them out. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { type IssuedLink, linkUrl } from "./session/people.ts";
import { Confirm, CopyText } from "./ui/actions.tsx";
import { Notice } from "./ui/messages.tsx";
import { Time } from "./ui/values.tsx";

type ShownLink = { link: IssuedLink; consoleUrl: string; back: { path: string; label: string } };

/** The only time that a link is seen. */
export function SignInLink({ link: { person, token, purpose, expiresAt }, consoleUrl, back }: ShownLink): JSX.Element {
	return (
		<>
			<Notice tone="good" title={`${purpose === "invitation" ? "An invitation" : "A link"} for ${person.name}.`}>
				It signs in whoever opens it, once, until <Time at={expiresAt} />. It is shown here and never again, and ends earlier ones: send it
				to nobody else.
			</Notice>
			<CopyText text={linkUrl(consoleUrl, token)} label="the link" block />
			<p>
				<a href={back.path}>{back.label}</a>
			</p>
		</>
	);
}

/** @param props.action where it is posted to */
export function SignOut({ action, name }: { action: string; name: string }): JSX.Element {
	return (
		<Confirm
			action={action}
			label="Sign out"
			of={name}
			question={`${name} is signed out everywhere, and their links end. They may sign in again.`}
		/>
	);
}

/** @param props.action where it is posted to */
export function Disable({ action, name }: { action: string; name: string }): JSX.Element {
	return (
		<Confirm
			action={action}
			label="Disable"
			of={name}
			question={`${name} is signed out everywhere, and may not sign in any more.`}
			danger
		/>
	);
}
