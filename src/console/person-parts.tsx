/** What both consoles show of people who may sign in: their links, and what puts them out. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { PersonRole } from "../lib/access-enums.ts";
import { type IssuedLink, linkUrl } from "./session/invite.ts";
import type { NewPerson } from "./session/people.ts";
import { Confirm, CopyText, Once } from "./ui/actions.tsx";
import { type Fault, Field } from "./ui/field.tsx";
import { Faults, Notice } from "./ui/messages.tsx";
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

/** What is said of something done to someone, by its name. */
export const DONE_TO_PERSON: Readonly<Record<string, string>> = {
	role: "The role is changed: it holds from their next page on.",
	disable: "They may not sign in any more, and are signed out everywhere.",
	enable: "They may sign in again.",
	"end-sessions": "They are signed out everywhere, and their links have ended.",
};

const LABELS = { name: "Name", email: "E-mail address", role: "Role" };

type Typed = Partial<Readonly<Record<keyof typeof LABELS, string>>>;

/** A sent form of {@link InvitationForm}: as it was typed, and what that says. */
export function readInvitation(form: URLSearchParams): { typed: Typed; wanted: Omit<NewPerson, "publisherId"> } {
	const typed = { name: (form.get("name") ?? "").trim(), email: (form.get("email") ?? "").trim(), role: form.get("role") ?? "" };
	const { name, email, role } = typed;
	return { typed, wanted: { name, email: email === "" ? null : email, role: role as PersonRole } };
}

/** @param props.action where it is posted to */
export function InvitationForm(props: {
	action: string;
	roles: readonly PersonRole[];
	typed: Typed;
	faults: readonly Fault[];
	hints: Typed;
}): JSX.Element {
	const { action, roles, typed, faults, hints } = props;
	return (
		<form method="post" action={action} class="stack">
			<Faults title="Nobody was invited" faults={faults} labels={LABELS} />
			<Once />
			<Field name="name" label={LABELS.name} value={typed.name} hint={hints.name} maxLength={64} faults={faults} required />
			<Field kind="email" name="email" label={LABELS.email} value={typed.email} hint={hints.email} faults={faults} />
			<Field
				kind="choice"
				name="role"
				label={LABELS.role}
				choices={roles.map((role) => ({ value: role, label: role }))}
				value={typed.role}
				hint={hints.role}
				faults={faults}
				required
			/>
			<div class="buttons">
				<button type="submit">Make an invitation</button>
			</div>
		</form>
	);
}
