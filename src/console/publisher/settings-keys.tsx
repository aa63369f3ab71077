/** A publisher's keys and signing secrets: issued, rotated, revoked. A new one is the answer to its form, and shown never again. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { invalidInput } from "../../http/errors.ts";
import { type CredentialState, type Issued, isSigning } from "../../operator/keys/keys-answers.ts";
import { readKeyInput } from "../../operator/keys/keys-request.ts";
import { issueCredential, revokeCredentials, rotateCredential } from "../../operator/keys/run-key-verbs.ts";
import { formFaults } from "../form-faults.ts";
import { OVERLAP_LABEL, OverlapInput, readOverlap, STANDING_COLUMNS } from "../key-parts.tsx";
import { page, seeOther, view } from "../page.ts";
import { Confirm, CopyText, Do, Once } from "../ui/actions.tsx";
import { type Fault, Field } from "../ui/field.tsx";
import { Empty, Faults, Notice } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Code, Time } from "../ui/values.tsx";

const PATH = "/console/settings";
/** What publishers issue themselves, and what it is for. */
const KINDS = {
	access_key: { label: "Access Key", use: "opens the endpoints under /api" },
	publisher_key: { label: "Publisher Key", use: "opens the product search" },
	callback_secret: { label: "Signing secret", use: "signs your callbacks" },
} as const;
type Kind = keyof typeof KINDS;

/** @throws HttpError 422 for any other kind: of an id there may be a platform or an operator, too */
function kindOf(form: URLSearchParams): Kind {
	const kind = form.get("kind") ?? "";
	if (!Object.hasOwn(KINDS, kind)) throw invalidInput([{ path: "kind", message: "is none of yours" }]);
	return kind as Kind;
}

const NEEDS = { publisher: "owner", fresh: true } as const;

export const SETTINGS_KEYS_PAGES = [
	page({
		method: "POST",
		path: `${PATH}/keys/issue`,
		needs: NEEDS,
		once: true,
		title: "A new key",
		async handle({ deps, publisher, form, actor }) {
			const request = readKeyInput("issue", { kind: kindOf(form), owner: publisher.id });
			return <Made {...(await issueCredential(deps.issuing, actor, request))} />;
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/keys/rotate`,
		needs: NEEDS,
		once: true,
		title: "A new key",
		async handle({ deps, publisher, form, actor }) {
			const kind = kindOf(form);
			const hours = form.get("overlap_hours") ?? "";
			try {
				const request = readKeyInput("rotate", { kind, owner: publisher.id, overlap_hours: readOverlap(hours) });
				return <Made {...(await rotateCredential(deps.issuing, actor, request))} />;
			} catch (error) {
				return view({ status: 422, title: "Settings" }, <RotateForm kind={kind} hours={hours} faults={formFaults(error)} />);
			}
		},
	}),
	page({
		method: "POST",
		path: `${PATH}/keys/revoke`,
		needs: { ...NEEDS, evenSuspended: true },
		title: "Settings",
		async handle({ deps, publisher, form, actor }) {
			// Without an id all of them would end: a form that lost it ends none.
			const request = readKeyInput("revoke", { kind: kindOf(form), owner: publisher.id, id: form.get("id") ?? "" });
			await revokeCredentials(deps.issuing, actor, request);
			return seeOther(`${PATH}?done=revoked`);
		},
	}),
];

const COLUMNS: readonly Column<CredentialState>[] = [
	{ head: "Id", namesRow: true, cell: ({ id }) => <Code>{id}</Code> },
	{ head: "Kind", cell: ({ kind }) => (isOwn(kind) ? KINDS[kind].label : kind) },
	...STANDING_COLUMNS,
	{ head: "Last used", cell: ({ kind, last_used_on }) => (isSigning(kind) ? null : <Time at={last_used_on} date />) },
];

const ACTIONS: Column<CredentialState> = {
	head: "Change",
	cell: ({ kind, id, state }) =>
		!isOwn(kind) ? null : (
			<Confirm
				action={`${PATH}/keys/revoke`}
				label="Revoke"
				of={`${KINDS[kind].label} ${id}`}
				question={`The ${KINDS[kind].label} ${id} ends at once${state === "ending" ? ", before its overlap does" : ""}. That cannot be taken back.`}
				fields={{ kind, id }}
				danger
			/>
		),
};

/** Those that are valid; an owner has the forms, of a suspended publisher the one that ends them. */
export function KeysTable(props: { credentials: readonly CredentialState[]; isOwner: boolean; isSuspended: boolean }): JSX.Element {
	const { credentials, isOwner, isSuspended } = props;
	const own = credentials.filter(({ kind, state }) => isOwn(kind) && state !== "ended");
	return (
		<>
			<Table
				caption="Keys and signing secrets, without themselves: they are shown once"
				columns={isOwner ? [...COLUMNS, ACTIONS] : COLUMNS}
				rows={own}
				empty={
					<Empty title="You have no key">
						<p>An Access Key opens the endpoints, a signing secret signs your callbacks.</p>
					</Empty>
				}
			/>
			{isOwner && !isSuspended
				? (Object.keys(KINDS) as Kind[]).map((kind) => (
						<NewKey kind={kind} has={own.some((one) => one.kind === kind && one.state === "valid")} />
					))
				: null}
		</>
	);
}

function rotationOf(label: string): string {
	return `A new ${label} takes the place of all that you have. They end after the overlap.`;
}

/** Once more, where a rotation was refused. */
function RotateForm({ kind, hours, faults }: { kind: Kind; hours: string; faults: readonly Fault[] }): JSX.Element {
	return (
		<form method="post" action={`${PATH}/keys/rotate`} class="stack">
			<Faults title="Nothing was rotated" faults={faults} labels={{ overlap_hours: OVERLAP_LABEL }} />
			<p>{rotationOf(KINDS[kind].label)}</p>
			<Once />
			<input type="hidden" name="kind" value={kind} />
			<Field kind="number" name="overlap_hours" label={OVERLAP_LABEL} value={hours} faults={faults} required />
			<div class="buttons">
				<button type="submit">Rotate</button>
				<a class="button quiet" href={PATH}>
					Leave it as it is
				</a>
			</div>
		</form>
	);
}

function NewKey({ kind, has }: { kind: Kind; has: boolean }): JSX.Element {
	const { label, use } = KINDS[kind];
	return (
		<section>
			<h3>{label}</h3>
			<p>
				It {use}. {kind === "callback_secret" ? <a href="/docs/publishers/callbacks#signatures">How to verify signatures</a> : null}
			</p>
			<div class="buttons">
				<Do action={`${PATH}/keys/issue`} label={has ? "Issue another" : "Issue one"} of={label} fields={{ kind }} once />
				{has ? (
					<Confirm action={`${PATH}/keys/rotate`} label="Rotate" of={label} question={rotationOf(label)} fields={{ kind }} once>
						<OverlapInput />
					</Confirm>
				) : null}
			</div>
		</section>
	);
}

/** The only time that it is seen. */
function Made({ issued: { kind, value, id }, published }: Issued): JSX.Element {
	const label = isOwn(kind) ? KINDS[kind].label : kind;
	return (
		<>
			<Notice tone="good" title={`Your new ${label}.`}>
				It is shown here and never again: keep it now. {published ? "" : "Bids hear of it within a minute."}
			</Notice>
			<CopyText text={value} label={`the ${label}`} block />
			<p>
				Your settings call it <Code>{id}</Code>. <a href={PATH}>Back to settings</a>
			</p>
		</>
	);
}

function isOwn(kind: string): kind is Kind {
	return Object.hasOwn(KINDS, kind);
}
