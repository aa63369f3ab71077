/** Passkeys: a person's own list, and signing in and confirming by one. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { jsonResponse } from "../lib/http.ts";
import { requestIdOf } from "../lib/request-id.ts";
import { fromUtf8 } from "../lib/utf8.ts";
import { CONFIRM_PATH, ConfirmFirst } from "./confirm-first.tsx";
import { firstPath } from "./home.tsx";
import { page, seeOther, view } from "./page.ts";
import { PASSKEYS_PATH, RemovePasskey } from "./passkey-parts.tsx";
import { writeCookie } from "./session/cookie.ts";
import { readNext } from "./session/origin.ts";
import {
	askToRegister,
	askToUse,
	assertionSchema,
	type KnownPasskey,
	listPasskeys,
	readPasskeyBody,
	registerPasskey,
	registrationSchema,
	removePasskey,
	usePasskey,
} from "./session/passkeys.ts";
import { beginSession, cookieSeconds, endReplaced, freshenSession, isFresh } from "./session/sessions.ts";
import { Field } from "./ui/field.tsx";
import { Empty, Notice } from "./ui/messages.tsx";
import { Table } from "./ui/table.tsx";
import { Time } from "./ui/values.tsx";

const SIGN_IN = "/console/sign-in/passkey";

/** Scripts of pages with a {@link PasskeyButton}. */
export const PASSKEY_SCRIPTS = ["passkeys.js"] as const;

/**
 * A button that has the browser make or use a passkey. Without JavaScript it is not there: passkeys need it.
 * @param ask where the browser's question comes from @param send where its answer goes, which says where to go on
 */
function PasskeyButton(props: { kind: "register" | "use"; ask: string; send: string; label: string; children?: JSX.Element }): JSX.Element {
	const { kind, ask, send, label, children } = props;
	return (
		<passkey-button data-kind={kind} data-ask={ask} data-send={send} hidden>
			{children}
			<button type="button">{label}</button>
			<p role="status" />
		</passkey-button>
	);
}

export function SignInByPasskey({ next }: { next: string | null }): JSX.Element {
	const send = next === null ? SIGN_IN : `${SIGN_IN}?${new URLSearchParams({ next })}`;
	return <PasskeyButton kind="use" ask={`${SIGN_IN}/question`} send={send} label="Sign in by a passkey" />;
}

export const PASSKEYS_PAGES = [
	page({
		method: "GET",
		path: PASSKEYS_PATH,
		needs: "anyone",
		title: "Your passkeys",
		async handle({ deps, session, person, query, now }) {
			const passkeys = await listPasskeys(deps.db, person.id);
			return view(
				{ scripts: PASSKEY_SCRIPTS },
				<>
					{query.added === undefined ? null : <Notice tone="good">You can sign in by it from now on.</Notice>}
					{query.removed === undefined ? null : (
						<Notice tone="good">It opens nothing here any more, and who signed in by a passkey elsewhere is signed out.</Notice>
					)}
					<p>
						A passkey signs you in without a link: your device asks for your finger, your face or its code. Make one on each device that you
						use.
					</p>
					{isFresh(session, now) ? (
						<PasskeyButton kind="register" ask={`${PASSKEYS_PATH}/question`} send={PASSKEYS_PATH} label="Make a passkey">
							<Field name="name" label="What it is called" value="" hint="Such as the device that it is on" />
						</PasskeyButton>
					) : (
						<ConfirmFirst next={PASSKEYS_PATH}>to make or remove one</ConfirmFirst>
					)}
					<noscript>
						<Notice>Passkeys need JavaScript, which your browser does not run here.</Notice>
					</noscript>
					<Passkeys passkeys={passkeys} />
				</>,
			);
		},
	}),
	page({
		method: "POST",
		path: `${PASSKEYS_PATH}/question`,
		needs: { anyone: true, fresh: true },
		title: "Your passkeys",
		isData: true,
		handle: async ({ deps, person }) => jsonResponse(await askToRegister(deps.passkeys, person)),
	}),
	page({
		method: "POST",
		path: PASSKEYS_PATH,
		needs: { anyone: true, fresh: true },
		title: "Your passkeys",
		isData: true,
		async handle({ deps, person, actor, body }) {
			await registerPasskey(deps.passkeys, actor, person, readPasskeyBody(registrationSchema, fromUtf8(body)));
			return jsonResponse({ location: `${PASSKEYS_PATH}?added=1` });
		},
	}),
	page({
		method: "POST",
		path: `${PASSKEYS_PATH}/remove`,
		needs: { anyone: true, fresh: true },
		title: "Your passkeys",
		async handle({ deps, session, person, actor, form }) {
			await removePasskey(deps.passkeys, actor, person, form.get("id") ?? "", session.hash);
			return seeOther(`${PASSKEYS_PATH}?removed=1`);
		},
	}),
	page({
		method: "POST",
		path: `${SIGN_IN}/question`,
		needs: "nobody",
		title: "Sign in",
		isData: true,
		handle: async ({ deps }) => jsonResponse(await askToUse(deps.passkeys, null)),
	}),
	page({
		method: "POST",
		path: SIGN_IN,
		needs: "nobody",
		title: "Sign in",
		isData: true,
		async handle({ c, deps, session, body, query, now }) {
			const { response } = readPasskeyBody(assertionSchema, fromUtf8(body));
			const { person, isKept } = await usePasskey(deps.passkeys, null, response);
			const token = await beginSession(deps, { person, method: "passkey", requestId: requestIdOf(c.req.raw, now) }, isKept);
			if (token === null) return jsonResponse({ error: "Forbidden", message: "You may not sign in any more." }, 403);
			await endReplaced(deps.db, session);
			const headers = { "set-cookie": writeCookie(token, cookieSeconds(person.role)) };
			return jsonResponse({ location: readNext(query.next) ?? "/console" }, 200, headers);
		},
	}),
	page({
		method: "GET",
		path: CONFIRM_PATH,
		needs: "anyone",
		title: "Confirm that it is you",
		async handle({ deps, session, person, query, now }) {
			const next = readNext(query.next);
			if (isFresh(session, now)) return seeOther(next ?? firstPath(session));
			const hasPasskey = (await listPasskeys(deps.db, person.id)).length > 0;
			return view(
				{ scripts: PASSKEY_SCRIPTS },
				<>
					<p>What you want to do asks for a passkey or a link that was used in the last ten minutes.</p>
					{hasPasskey ? (
						<PasskeyButton
							kind="use"
							ask={`${CONFIRM_PATH}/question`}
							send={next === null ? CONFIRM_PATH : `${CONFIRM_PATH}?${new URLSearchParams({ next })}`}
							label="Confirm by a passkey"
						/>
					) : null}
					<p>
						{hasPasskey ? "Or ask" : "Ask"} for <a href="/console/sign-in">another link</a>, open it in this browser, and do it then.
					</p>
				</>,
			);
		},
	}),
	page({
		method: "POST",
		path: `${CONFIRM_PATH}/question`,
		needs: "anyone",
		title: "Confirm that it is you",
		isData: true,
		handle: async ({ deps, person }) => jsonResponse(await askToUse(deps.passkeys, person)),
	}),
	page({
		method: "POST",
		path: CONFIRM_PATH,
		needs: "anyone",
		title: "Confirm that it is you",
		isData: true,
		async handle({ deps, person, session, body, query, now }) {
			const { isKept } = await usePasskey(deps.passkeys, person, readPasskeyBody(assertionSchema, fromUtf8(body)).response);
			await freshenSession(deps.db, session.hash, now, isKept);
			return jsonResponse({ location: readNext(query.next) ?? firstPath(session) });
		},
	}),
];

function Passkeys({ passkeys }: { passkeys: readonly KnownPasskey[] }): JSX.Element {
	return (
		<Table
			caption="Passkeys"
			columns={[
				{ head: "Name", cell: ({ name }) => name },
				{ head: "Made at", cell: ({ createdAt }) => <Time at={createdAt} /> },
				{ head: "Last used at", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
				{
					head: "Remove",
					cell: RemovePasskey,
				},
			]}
			rows={passkeys}
			empty={
				<Empty title="You have no passkey yet">
					<p>Until you have one, a link that works once signs you in.</p>
				</Empty>
			}
		/>
	);
}
