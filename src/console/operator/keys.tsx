/** Keys, names and callback secrets: listed, issued, rotated, revoked. A new one is shown as the answer to its form, and never again. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { mayAct } from "../../http/actor.ts";
import { givenOf } from "../../http/read-input.ts";
import { CREDENTIAL_KINDS, OPERATOR_ROLES } from "../../lib/access-enums.ts";
import { type CredentialState, type Issued, isName } from "../../operator/keys/keys-answers.ts";
import { readKeyInput } from "../../operator/keys/keys-request.ts";
import { issueCredential, listCredentials, revokeCredentials, rotateCredential } from "../../operator/keys/run-key-verbs.ts";
import { ConfirmFirst } from "../confirm-first.tsx";
import { formFaults } from "../form-faults.ts";
import { OVERLAP_LABEL, OverlapInput, readOverlap, STANDING_COLUMNS } from "../key-parts.tsx";
import { type PersonRequest, page, type Shown, seeOther, view } from "../page.ts";
import { isFresh } from "../session/sessions.ts";
import { Confirm, CopyText, Once } from "../ui/actions.tsx";
import { addressOf } from "../ui/address.ts";
import { type Fault, Field } from "../ui/field.tsx";
import { Filters } from "../ui/filters.tsx";
import { Empty, Faults, Notice } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Code, inWords, Time } from "../ui/values.tsx";
import { networkPath } from "./network-lists.tsx";

const PATH = "/console/operator/keys";
const MAX_SHOWN = 200;
const KIND_CHOICES = CREDENTIAL_KINDS.map((kind) => ({ value: kind, label: inWords(kind) }));
const ISSUED_KINDS = CREDENTIAL_KINDS.filter((kind) => !isName(kind)).map((kind) => ({ value: kind, label: inWords(kind) }));
const LABELS = {
	kind: "Kind",
	owner: "Owner",
	role: "Role",
	expires: "Ends at",
	overlap_hours: OVERLAP_LABEL,
	value: "Another name, or one is made up",
};

/** Fields of a form that are not empty. */
function given({ form }: PersonRequest, names: readonly string[]): Record<string, string> {
	return Object.fromEntries(names.map((name) => [name, (form.get(name) ?? "").trim()]).filter(([, value]) => value !== ""));
}

export const KEYS_PAGES = [
	page({ method: "GET", path: PATH, needs: { staff: "viewer" }, title: "Keys", handle: (request) => list(request) }),
	page({
		method: "POST",
		path: `${PATH}/issue`,
		needs: { staff: "admin", fresh: true },
		once: true,
		title: "Keys",
		async handle(request) {
			const { deps, actor } = request;
			const typed = given(request, ["kind", "owner", "role", "expires"]);
			try {
				return <Made {...(await issueCredential(deps.issuing, actor, readKeyInput("issue", typed)))} />;
			} catch (error) {
				const faults = formFaults(error);
				return view({ status: 422 }, <IssueForm typed={typed} faults={faults} />);
			}
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/rotate`,
		needs: { staff: "admin", fresh: true },
		once: true,
		title: "Keys",
		async handle(request) {
			const { deps, actor } = request;
			const typed = given(request, ["kind", "owner", "overlap_hours", "value", "expires"]);
			const { overlap_hours: hours, ...rest } = typed;
			const overlap = hours === undefined ? {} : { overlap_hours: readOverlap(hours) };
			try {
				return <Made {...(await rotateCredential(deps.issuing, actor, readKeyInput("rotate", { ...rest, ...overlap })))} />;
			} catch (error) {
				return view({ status: 422 }, <RotateForm typed={typed} faults={formFaults(error)} />);
			}
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/revoke`,
		needs: { staff: "admin", fresh: true },
		title: "Keys",
		async handle(request) {
			const { deps, actor } = request;
			// Without an id all of them would end: a form that lost it ends none.
			const wanted = readKeyInput("revoke", { ...given(request, ["kind", "owner"]), id: request.form.get("id") ?? "" });
			const { revoked, published } = await revokeCredentials(deps.issuing, actor, wanted);
			const { kind, owner } = wanted;
			return seeOther(addressOf(PATH, { kind, owner, revoked: String(revoked), ...(!published && { late: "1" }) }));
		},
	}),
];

async function list({ deps, query, person, session, now }: PersonRequest): Promise<Shown> {
	const { revoked, late, ...filters } = query;
	const keys = await listCredentials(deps.issuing, readKeyInput("list", givenOf(filters)));
	const isAdmin = mayAct(person.role, "admin");
	return (
		<>
			{revoked === undefined ? null : (
				<Notice tone="good" title="It is revoked.">
					{late === undefined ? "" : "Bids hear of it within a minute."}
				</Notice>
			)}
			<Filters
				path={PATH}
				query={filters}
				filters={[
					{ kind: "text", name: "owner", label: "Owner", hint: "Id of a publisher or platform, or an operator's name" },
					{ kind: "choice", name: "kind", label: "Kind", choices: KIND_CHOICES },
				]}
			/>
			{keys.length > MAX_SHOWN ? (
				<Notice title={`${keys.length} are known.`}>The first {MAX_SHOWN} are shown: name an owner or a kind.</Notice>
			) : null}
			<Table
				caption="Keys, names and secrets"
				columns={isAdmin ? [...COLUMNS, ACTIONS] : COLUMNS}
				rows={keys.slice(0, MAX_SHOWN)}
				empty={
					<Empty title="There is none like that">
						<p>Ask for another owner or kind{isAdmin ? ", or issue one" : ""}.</p>
					</Empty>
				}
			/>
			{!isAdmin ? null : isFresh(session, now) ? (
				<IssueForm typed={filters} faults={[]} />
			) : (
				<ConfirmFirst next={addressOf(PATH, filters)}>to issue one</ConfirmFirst>
			)}
		</>
	);
}

const COLUMNS: readonly Column<CredentialState>[] = [
	{ head: "Id", namesRow: true, cell: ({ id }) => <Code>{id}</Code> },
	{ head: "Kind", cell: ({ kind }) => inWords(kind) },
	{ head: "Owner", cell: ({ kind, owner }) => <Owner kind={kind} owner={owner} /> },
	{ head: "Role", cell: ({ role }) => role ?? null, isGiven: ({ role }) => role !== undefined },
	...STANDING_COLUMNS,
	{
		head: "Last used",
		cell: ({ last_used_at, last_used_on }) => (last_used_at === undefined ? <Time at={last_used_on} date /> : <Time at={last_used_at} />),
	},
];

function Owner({ kind, owner }: Pick<CredentialState, "kind" | "owner">): JSX.Element {
	if (kind === "operator_key") return <>{owner}</>;
	const section = kind === "platform_key" ? "platforms" : "publishers";
	return <a href={networkPath(section, owner)}>{owner}</a>;
}

const ACTIONS: Column<CredentialState> = {
	head: "Change",
	cell: ({ kind, owner, id, state }) => (
		<div class="buttons">
			{state === "valid" ? (
				<Confirm
					action={`${PATH}/rotate`}
					label="Rotate"
					of={`${inWords(kind)} of ${owner}`}
					question={`A new ${inWords(kind)} takes the place of all that ${owner} has. They end after the overlap.`}
					fields={{ kind, owner }}
					once
				>
					<OverlapInput />
					{isName(kind) ? (
						<label>
							{LABELS.value} <input type="text" name="value" maxlength={64} autocomplete="off" />
						</label>
					) : null}
				</Confirm>
			) : null}
			{state === "ending" || (state === "valid" && !isName(kind)) ? (
				<Confirm
					action={`${PATH}/revoke`}
					label="Revoke"
					of={`${inWords(kind)} ${id} of ${owner}`}
					question={`${id} of ${owner} ends at once. That cannot be taken back.`}
					fields={{ kind, owner, id }}
					danger
				/>
			) : null}
		</div>
	),
};

/** Once more, where a rotation was refused. */
function RotateForm({ typed, faults }: { typed: Readonly<Record<string, string>>; faults: readonly Fault[] }): JSX.Element {
	const { kind = "", owner = "", overlap_hours, value } = typed;
	return (
		<form method="post" action={`${PATH}/rotate`} class="stack">
			<Faults title="Nothing was rotated" faults={faults} labels={{ overlap_hours: LABELS.overlap_hours, value: LABELS.value }} />
			<p>
				A new {inWords(kind)} takes the place of all that {owner} has. They end after the overlap.
			</p>
			<Once />
			<input type="hidden" name="kind" value={kind} />
			<input type="hidden" name="owner" value={owner} />
			<Field kind="number" name="overlap_hours" label={LABELS.overlap_hours} value={overlap_hours} faults={faults} required />
			{value === undefined && !CREDENTIAL_KINDS.some((name) => name === kind && isName(name)) ? null : (
				<Field name="value" label={LABELS.value} value={value} maxLength={64} faults={faults} />
			)}
			<div class="buttons">
				<button type="submit">Rotate</button>
				<a class="button quiet" href={addressOf(PATH, { kind, owner })}>
					Leave it as it is
				</a>
			</div>
		</form>
	);
}

function IssueForm({ typed, faults }: { typed: Readonly<Record<string, string>>; faults: readonly Fault[] }): JSX.Element {
	return (
		<section>
			<h2>Issue one</h2>
			<form method="post" action={`${PATH}/issue`} class="stack">
				<Faults title="Nothing was issued" faults={faults} labels={LABELS} />
				<Once />
				<Field kind="choice" name="kind" label={LABELS.kind} choices={ISSUED_KINDS} value={typed.kind} faults={faults} required />
				<Field
					name="owner"
					label={LABELS.owner}
					value={typed.owner}
					hint="Id of a publisher or platform; of an operator key, the name of whoever is to hold it"
					faults={faults}
					required
				/>
				<Field
					kind="choice"
					name="role"
					label={LABELS.role}
					choices={[{ value: "", label: "none" }, ...OPERATOR_ROLES.map((role) => ({ value: role, label: role }))]}
					value={typed.role}
					hint="Of an operator key"
					faults={faults}
				/>
				<Field
					name="expires"
					label={LABELS.expires}
					value={typed.expires}
					hint="Of an operator key, such as 2027-01-01T00:00:00Z; otherwise it has no end"
					faults={faults}
				/>
				<div class="buttons">
					<button type="submit">Issue</button>
				</div>
			</form>
		</section>
	);
}

/** The only time that it is seen. */
function Made({ issued: { kind, owner, value, id }, published }: Issued): JSX.Element {
	return (
		<>
			<Notice tone="good" title={`The new ${inWords(kind)} of ${owner}.`}>
				{isName(kind) ? "" : "It is shown here and never again. "}
				{published ? "" : "Bids hear of it within a minute."}
			</Notice>
			<CopyText text={value} label={`the ${inWords(kind)}`} block />
			<p>
				Lists call it <Code>{id}</Code>. <a href={addressOf(PATH, { owner, kind })}>All of {owner}</a>
			</p>
		</>
	);
}
