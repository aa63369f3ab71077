/** A publisher's own people: invited, let in, given roles, kept out, by its owners. Links are shown once. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { invalidInput } from "../../http/errors.ts";
import { PUBLISHER_ROLES } from "../../lib/access-enums.ts";
import { formFaults } from "../form-faults.ts";
import { type PublisherRequest, page, type Shown, seeOther, view } from "../page.ts";
import { PASSKEYS_PATH, RemovePasskey } from "../passkey-parts.tsx";
import { Disable, InvitationForm, readInvitation, SignInLink, SignOut } from "../person-parts.tsx";
import { type IssuedLink, invitePerson, issueSignInLink } from "../session/invite.ts";
import type { listPasskeysOf } from "../session/passkeys.ts";
import { findPerson, type KnownPerson } from "../session/people.ts";
import { changeRole, disablePerson, enablePerson, endSessions } from "../session/people-standing.ts";
import type { Person } from "../session/sessions.ts";
import { Confirm, Do } from "../ui/actions.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { State, Time } from "../ui/values.tsx";

const PATH = "/console/settings";
const MEMBERS = `${PATH}/members`;
const BACK = { path: PATH, label: "Back to settings" };

/** What is done to someone. What lets someone in, or do more, asks for a passkey; all else takes away, and a suspended publisher may. */
const DEEDS: readonly {
	name: string;
	isGuarded: boolean;
	/** Whether nobody does it to themselves: so an owner is left. */
	isForOthers: boolean;
	does: (request: PublisherRequest, person: KnownPerson) => Promise<IssuedLink> | Promise<void>;
}[] = [
	{ name: "link", isGuarded: true, isForOthers: false, does: ({ deps, actor }, person) => issueSignInLink(deps, actor, person) },
	{
		name: "role",
		isGuarded: true,
		isForOthers: true,
		does: ({ deps, actor, form }, person) => changeRole(deps, actor, person, form.get("role") ?? ""),
	},
	{ name: "enable", isGuarded: true, isForOthers: false, does: ({ deps, actor }, person) => enablePerson(deps, actor, person) },
	{ name: "disable", isGuarded: false, isForOthers: true, does: ({ deps, actor }, person) => disablePerson(deps, actor, person) },
	{ name: "end-sessions", isGuarded: false, isForOthers: false, does: ({ deps, actor }, person) => endSessions(deps, actor, person) },
];

export const SETTINGS_MEMBERS_PAGES = [
	page({
		method: "GET",
		path: MEMBERS,
		needs: { publisher: "owner", fresh: true },
		title: "Invite someone",
		handle: () => <Invite typed={{ role: "analyst" }} faults={[]} />,
	}),
	page({
		method: "POST",
		path: MEMBERS,
		needs: { publisher: "owner", fresh: true },
		once: true,
		title: "Invite someone",
		async handle({ deps, publisher, form, actor }) {
			const { typed, wanted } = readInvitation(form);
			try {
				const link = await invitePerson(deps, actor, { publisherId: publisher.id, ...wanted });
				return <SignInLink link={link} consoleUrl={deps.consoleUrl} back={BACK} />;
			} catch (error) {
				return view({ status: 422 }, <Invite typed={typed} faults={formFaults(error)} />);
			}
		},
	}),
	...DEEDS.map((deed) =>
		page({
			method: "POST",
			path: `${MEMBERS}/:person/${deed.name}`,
			needs: deed.isGuarded ? { publisher: "owner", fresh: true } : { publisher: "owner", evenSuspended: true },
			...(deed.name === "link" && { once: true }),
			title: "People",
			async handle(request: PublisherRequest): Promise<Shown> {
				const { deps, publisher, person: own, param } = request;
				const person = await findPerson(deps.db, publisher.id, param("person"));
				if (deed.isForOthers && person.id === own.id)
					throw invalidInput([{ path: "", message: "is for another owner to do: this is you" }]);
				const link = await deed.does(request, person);
				return link ? <SignInLink link={link} consoleUrl={deps.consoleUrl} back={BACK} /> : seeOther(`${PATH}?done=${deed.name}`);
			},
		}),
	),
];

const COLUMNS: readonly Column<KnownPerson>[] = [
	{ head: "Name", cell: ({ name }) => name },
	{ head: "E-mail", cell: ({ email }) => email, isGiven: ({ email }) => email !== null },
	{ head: "Role", cell: ({ role }) => role },
	{
		head: "State",
		cell: ({ disabledAt }) => <State word={disabledAt === null ? "active" : "disabled"} tone={disabledAt === null ? "good" : "over"} />,
	},
	{ head: "Since", cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** @param props.own whoever looks */
export function MembersTable(props: { people: readonly KnownPerson[]; own: Person; isSuspended: boolean }): JSX.Element {
	const { people, own, isSuspended } = props;
	const isOwner = own.role === "owner";
	const actions: Column<KnownPerson> = {
		head: "Change",
		cell: (person) => <Actions person={person} isOneself={person.id === own.id} isSuspended={isSuspended} />,
	};
	return (
		<>
			<Table
				caption="Who may sign in for you; an owner changes settings, an analyst looks"
				columns={isOwner ? [...COLUMNS, actions] : COLUMNS}
				rows={people}
				empty={<p>Nobody may.</p>}
			/>
			{isOwner && !isSuspended ? (
				<p>
					<a class="button" href={MEMBERS}>
						Invite someone
					</a>
				</p>
			) : null}
		</>
	);
}

/** Of an owner's people, or one's own; everyone removes their own alone. */
export function PasskeysTable({ passkeys, own }: { passkeys: Awaited<ReturnType<typeof listPasskeysOf>>; own: Person }): JSX.Element {
	return (
		<>
			<h2>Passkeys</h2>
			<Table
				caption="Passkeys that sign in for you"
				quiet
				columns={[
					{ head: "Whose", cell: ({ person }) => person },
					{ head: "Name", cell: ({ name }) => name },
					{ head: "Made at", cell: ({ createdAt }) => <Time at={createdAt} /> },
					{ head: "Last used at", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
					{
						head: "Change",
						cell: ({ id, name, personId }) => (personId !== own.id ? null : <RemovePasskey id={id} name={name} />),
					},
				]}
				rows={passkeys}
				empty={<p>Nobody has one yet: with a passkey you sign in without waiting for a link.</p>}
			/>
			<p>
				<a href={PASSKEYS_PATH}>Make a passkey of your own</a>
			</p>
		</>
	);
}

function Actions(props: { person: KnownPerson; isOneself: boolean; isSuspended: boolean }): JSX.Element | null {
	const { isOneself, isSuspended } = props;
	const { id, name, role, disabledAt } = props.person;
	const to = (deed: string) => `${MEMBERS}/${id}/${deed}`;
	if (disabledAt !== null) return isSuspended ? null : <Do action={to("enable")} label="Enable" of={name} />;
	const other = PUBLISHER_ROLES.find((one) => one !== role) ?? role;
	return (
		<div class="buttons">
			{isSuspended ? null : <Do action={to("link")} label="New link" of={`for ${name}`} once />}
			{isOneself || isSuspended ? null : (
				<Confirm
					action={to("role")}
					label={`Make ${other}`}
					of={name}
					question={`${name} is ${role}, and becomes ${other}.`}
					fields={{ role: other }}
				/>
			)}
			<SignOut action={to("end-sessions")} name={name} />
			{isOneself ? null : <Disable action={to("disable")} name={name} />}
		</div>
	);
}

function Invite({ typed, faults }: Pick<Parameters<typeof InvitationForm>[0], "typed" | "faults">): JSX.Element {
	const hints = { email: "Nothing is sent to it", role: "An owner changes settings, an analyst looks" };
	return <InvitationForm action={MEMBERS} roles={PUBLISHER_ROLES} typed={typed} faults={faults} hints={hints} />;
}
