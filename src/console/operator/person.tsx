/** One of the operator's staff, or of a publisher's people: where they are signed in, and the passkeys that they have. */
import type { SignInMethod } from "../../lib/access-enums.ts";
import { type PersonRequest, page, type Shown, seeOther, view } from "../page.ts";
import { listPasskeys, removePasskey } from "../session/passkeys.ts";
import { findPerson, type KnownPerson } from "../session/people.ts";
import { endOneSession } from "../session/people-standing.ts";
import { listSessions } from "../session/read-people.ts";
import { Confirm, Do } from "../ui/actions.tsx";
import { Notice } from "../ui/messages.tsx";
import { Facts, Table } from "../ui/table.tsx";
import { None, Time } from "../ui/values.tsx";
import { PersonState, PUBLISHER_PATH, STAFF_PATH, teamOf } from "./people-parts.tsx";

const METHODS: Record<SignInMethod, string> = { link: "a link", passkey: "a passkey", access: "Cloudflare Access" };

/** What is done to someone's session or passkey, on their own page. Neither waits for a passkey of whoever does it: it takes away. */
const TAKING: readonly {
	name: string;
	/** What is said then. */
	done: string;
	does: (request: PersonRequest, person: KnownPerson, id: string) => Promise<void>;
}[] = [
	{ name: "end-session", done: "The session has ended.", does: ({ deps, actor }, person, id) => endOneSession(deps, actor, person, id) },
	{
		name: "remove-passkey",
		done: "The passkey opens nothing any more.",
		does: ({ deps, actor }, person, id) => removePasskey(deps, actor, person, id),
	},
];

/** Someone: what they are, their passkeys, and where they are signed in. */
async function show(request: PersonRequest): Promise<Shown> {
	const { deps, query, now } = request;
	const { publisherId, path, title } = await teamOf(request);
	const person = await findPerson(deps.db, publisherId, request.param("person"));
	const [passkeys, sessions] = await Promise.all([listPasskeys(deps.db, person.id), listSessions(deps.db, person, now)]);
	const done = TAKING.find(({ name }) => name === query.done)?.done;
	const own = `${path}/${person.id}`;
	return view(
		{ title: person.name, over: <a href={path}>{title}</a> },
		<>
			{done === undefined ? null : <Notice tone="good">{done}</Notice>}
			<Facts
				facts={[
					["Role", person.role],
					["State", <PersonState person={person} />],
					["E-mail", person.email],
					["Since", <Time at={person.createdAt} />],
					["Id", <code>{person.id}</code>],
				]}
			/>
			<h2>Sessions</h2>
			<Table
				caption="Where they are signed in"
				quiet
				columns={[
					{ head: "Signed in at", cell: ({ createdAt }) => <Time at={createdAt} /> },
					{ head: "By", cell: ({ method }) => METHODS[method] },
					{ head: "Last seen at", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
					{ head: "Looks at", cell: ({ viewing }) => viewing ?? <None /> },
					{
						head: "End",
						cell: ({ id, createdAt }) => (
							<Do
								action={`${own}/end-session`}
								label="End"
								of={`the session of ${new Date(createdAt).toISOString().slice(0, 19)}`}
								fields={{ id }}
							/>
						),
					},
				]}
				rows={sessions}
				empty={<p>They are signed in nowhere.</p>}
			/>
			<h2>Passkeys</h2>
			<Table
				caption="Passkeys"
				quiet
				columns={[
					{ head: "Name", cell: ({ name }) => name },
					{ head: "Made at", cell: ({ createdAt }) => <Time at={createdAt} /> },
					{ head: "Last used at", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
					{
						head: "Remove",
						cell: ({ id, name }) => (
							<Confirm
								action={`${own}/remove-passkey`}
								label="Remove"
								of={name}
								question={`${name} of ${person.name} opens nothing here any more. Only they can make another.`}
								fields={{ id }}
								danger
							/>
						),
					},
				]}
				rows={passkeys}
				empty={<p>They have none: a link that works once signs them in.</p>}
			/>
			<p>
				<a href={`/console/operator/audit?${new URLSearchParams({ subject: person.id })}`}>What was done to them</a>
			</p>
		</>,
	);
}

export const PERSON_PAGES = ([STAFF_PATH, PUBLISHER_PATH] as const).flatMap(
	(path) =>
		[
			page({ method: "GET", path: `${path}/:person`, needs: { staff: "admin" }, title: "People", handle: show }),
			...TAKING.map(({ name, does }) =>
				page({
					method: "POST",
					path: `${path}/:person/${name}`,
					needs: { staff: "admin" },
					title: "People",
					async handle(request: PersonRequest) {
						const { publisherId, path: own } = await teamOf(request);
						const person = await findPerson(request.deps.db, publisherId, request.param("person"));
						await does(request, person, request.form.get("id") ?? "");
						return seeOther(`${own}/${person.id}?done=${name}`);
					},
				}),
			),
		] as const,
);
