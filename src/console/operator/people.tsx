/** The operator's staff, and a publisher's people: invited, let in, given roles, kept out. Links are shown once. */
import type { Actor } from "../../http/actor.ts";
import { OPERATOR_ROLES, type PersonRole, PUBLISHER_ROLES } from "../../lib/access-enums.ts";
import { ConfirmFirst } from "../confirm-first.tsx";
import { formFaults } from "../form-faults.ts";
import { type PersonRequest, page, type Shown, seeOther, view } from "../page.ts";
import { Disable, DONE_TO_PERSON, InvitationForm, readInvitation, SignInLink, SignOut } from "../person-parts.tsx";
import { type IssuedLink, invitePerson, issueSignInLink } from "../session/invite.ts";
import { findPerson, type KnownPerson, listPeople } from "../session/people.ts";
import { assertRole, changeRole, disablePerson, enablePerson, endSessions } from "../session/people-standing.ts";
import { isFresh } from "../session/sessions.ts";
import { Confirm, Do } from "../ui/actions.tsx";
import type { Fault } from "../ui/field.tsx";
import { Empty, Notice } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { PersonState, PUBLISHER_PATH, STAFF_PATH, teamOf } from "./people-parts.tsx";

/** What is done to someone, and then said. */
type Deed = {
	name: string;
	/** It lets someone in, or lets them do more. */
	isGuarded: boolean;
	does: (request: PersonRequest, person: KnownPerson, actor: Actor) => Promise<IssuedLink | undefined>;
};

const DEEDS: readonly Deed[] = [
	{
		name: "link",
		isGuarded: true,
		does: ({ deps }, person, actor) => issueSignInLink(deps, actor, person),
	},
	{
		name: "role",
		isGuarded: true,
		async does({ deps, form }, person, actor) {
			assertRole(person, form.get("was") ?? "");
			await changeRole(deps, actor, person, form.get("role") ?? "");
			return undefined;
		},
	},
	{
		name: "enable",
		isGuarded: true,
		async does({ deps }, person, actor) {
			await enablePerson(deps, actor, person);
			return undefined;
		},
	},
	// These are not to wait for a passkey: whoever has lost theirs to somebody asks for them.
	{
		name: "disable",
		isGuarded: false,
		async does({ deps }, person, actor) {
			await disablePerson(deps, actor, person);
			return undefined;
		},
	},
	{
		name: "end-sessions",
		isGuarded: false,
		async does({ deps }, person, actor) {
			await endSessions(deps, actor, person);
			return undefined;
		},
	},
];

async function list(request: PersonRequest, typed: Readonly<Record<string, string>> = {}, faults: readonly Fault[] = []): Promise<Shown> {
	const { deps, query, session, now } = request;
	const { publisherId, path, title } = await teamOf(request);
	const people = await listPeople(deps.db, publisherId);
	const done = DONE_TO_PERSON[query.done ?? ""];
	return view(
		{ title, status: faults.length > 0 ? 422 : 200 },
		<>
			{done === undefined ? null : <Notice tone="good">{done}</Notice>}
			<Table
				caption="Those who may sign in first"
				columns={columnsOf(path, rolesOf(publisherId))}
				rows={people}
				empty={
					<Empty title="Nobody is here yet">
						<p>Invite someone: they sign in by a link that works once.</p>
					</Empty>
				}
			/>
			<h2>Invite someone</h2>
			{isFresh(session, now) ? (
				<InvitationForm
					action={path}
					roles={rolesOf(publisherId)}
					typed={typed}
					faults={faults}
					hints={{ name: "As it is to stand in the audit", email: "Nothing is sent to it. Cloudflare Access knows staff by it." }}
				/>
			) : (
				<ConfirmFirst next={path}>to invite someone</ConfirmFirst>
			)}
		</>,
	);
}

async function invite(request: PersonRequest): Promise<Shown> {
	const { deps, form, actor } = request;
	const { publisherId, path, title } = await teamOf(request);
	const { typed, wanted } = readInvitation(form);
	try {
		const link = await invitePerson(deps, actor, { publisherId, ...wanted });
		return view({ title }, <SignInLink link={link} consoleUrl={deps.consoleUrl} back={{ path, label: "To the list" }} />);
	} catch (error) {
		return list(request, typed, formFaults(error));
	}
}

async function act(request: PersonRequest, { name, does }: Deed): Promise<Shown> {
	const { deps, actor } = request;
	const { publisherId, path, title } = await teamOf(request);
	const person = await findPerson(deps.db, publisherId, request.param("person"));
	const link = await does(request, person, actor);
	if (link !== undefined)
		return view({ title }, <SignInLink link={link} consoleUrl={deps.consoleUrl} back={{ path, label: "To the list" }} />);
	return seeOther(`${path}?done=${name}`);
}

export const PEOPLE_PAGES = ([STAFF_PATH, PUBLISHER_PATH] as const).flatMap((path) => {
	const title = path === STAFF_PATH ? "Staff" : "People";
	return [
		page({ method: "GET", path, needs: { staff: "admin" }, title, handle: (request) => list(request) }),
		page({ method: "POST", path, needs: { staff: "admin", fresh: true }, once: true, title, handle: invite }),
		...DEEDS.map((deed) =>
			page({
				method: "POST",
				path: `${path}/:person/${deed.name}`,
				needs: deed.isGuarded ? { staff: "admin", fresh: true } : { staff: "admin" },
				...(deed.name === "link" && { once: true }),
				title,
				handle: (request: PersonRequest) => act(request, deed),
			}),
		),
	];
});

function rolesOf(publisherId: string | null): readonly PersonRole[] {
	return publisherId === null ? OPERATOR_ROLES : PUBLISHER_ROLES;
}

function columnsOf(path: string, roles: readonly PersonRole[]): Column<KnownPerson>[] {
	const to = ({ id }: KnownPerson, deed: string) => `${path}/${id}/${deed}`;
	return [
		{ head: "Name", cell: ({ id, name }) => <a href={`${path}/${id}`}>{name}</a> },
		{ head: "E-mail", cell: ({ email }) => email, isGiven: ({ email }) => email !== null },
		{ head: "Role", cell: ({ role }) => role },
		{ head: "State", cell: (person) => <PersonState person={person} /> },
		{ head: "Since", cell: ({ createdAt }) => <Time at={createdAt} /> },
		{
			head: "Change",
			cell: (person) =>
				person.disabledAt !== null ? (
					<Do action={to(person, "enable")} label="Enable" of={person.name} />
				) : (
					<div class="buttons">
						<Do action={to(person, "link")} label="New link" of={`for ${person.name}`} once />
						<Confirm
							action={to(person, "role")}
							label="Role"
							of={`of ${person.name}`}
							send="Change the role"
							question={`${person.name} is ${person.role}.`}
							fields={{ was: person.role }}
						>
							<label>
								Role{" "}
								<select name="role">
									{roles.map((role) => (
										<option value={role} selected={role === person.role}>
											{role}
										</option>
									))}
								</select>
							</label>
						</Confirm>
						<SignOut action={to(person, "end-sessions")} name={person.name} />
						<Disable action={to(person, "disable")} name={person.name} />
					</div>
				),
		},
	];
}
