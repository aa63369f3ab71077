/** What a page says where it cannot do what was asked: what happened, and what to do. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { HttpError } from "../lib/http.ts";
import { type KeptForm, SendAgain } from "./kept-form.tsx";
import { View, view } from "./page.ts";
import type { Query } from "./ui/address.ts";
import { type Fault, Field } from "./ui/field.tsx";
import { Faults } from "./ui/messages.tsx";
import { inWords } from "./ui/values.tsx";

type Words = { title: string; text: string };

const WORDS: Readonly<Record<number, Words>> = {
	400: { title: "This cannot be read", text: "The request is not one that this page understands. Go back, and try again." },
	401: { title: "You are not signed in", text: "Nothing was changed. Sign in, and try again." },
	403: { title: "Not for you", text: "What you may do does not include this. Ask whoever invited you." },
	404: { title: "Not found", text: "There is nothing at this address, or it is not yours to see." },
	405: { title: "Not found", text: "There is nothing at this address that takes this." },
	410: { title: "No longer there", text: "What this address led to has ended." },
	412: { title: "Nothing was changed", text: "Someone else has changed this meanwhile. Nothing was changed: look at it again." },
	413: { title: "Too large", text: "What was sent is larger than this page takes." },
	422: { title: "Something is not right", text: "Nothing was changed. Go back, correct what is named here, and send it again." },
	429: { title: "Too many requests", text: "Wait a minute, and try again." },
	503: { title: "Not just now", text: "This cannot be done at the moment. Try again in a few minutes." },
};

/**
 * A page that was asked for: `query` as its address has it, `list` as its entry has it, `kept` what was sent to it, where the same may be
 * sent again, and `back` the page with the form.
 */
type Asked = {
	isFiltered: boolean;
	title: string;
	path: string;
	query: Query;
	list: string | undefined;
	kept: KeptForm | null;
	back: string | null;
};

/** Of an error that a verb throws: its faults, and its message where it has one. */
export function errorView({ status, body }: Pick<HttpError, "status" | "body">, asked: Asked): View {
	const words = WORDS[status] ?? { title: "This did not work", text: "Go back, and try again." };
	const faults = readFaults(body);
	if (status === 422 && asked.isFiltered && faults.length > 0) return unreadableView(faults, asked);
	const message = typeof body.message === "string" ? body.message : words.text;
	return problemView(
		status,
		words.title,
		<>
			{faults.length === 0 ? <p>{message}</p> : <Faults title={message} faults={faults} />}
			{asked.kept === null ? null : <SendAgain {...asked.kept} />}
			{asked.back === null ? null : (
				<p>
					<a href={asked.back}>Back to where you were</a>
				</p>
			)}
		</>,
	);
}

/** What stands against a form without fields of its own, above the page that it was sent from. */
export function refusedView({ status, body }: Pick<HttpError, "status" | "body">, shown: JSX.Element | View): View {
	const { content, options } = shown instanceof View ? shown : view({}, shown);
	const said = body.message ?? WORDS[status]?.text;
	const faults = readFaults(body);
	return view(
		{ ...options, status },
		<>
			<Faults title="Nothing was changed" faults={faults.length > 0 ? faults : [{ path: "", message: String(said ?? "") }]} />
			{content}
		</>,
	);
}

/** Where a list was asked for by filters that do not fit: nothing was to be changed, and the way on is the list itself. */
function unreadableView(faults: readonly Fault[], { title, path, query, list }: Asked): View {
	const wrong = faults.map(({ path: name }) => name).filter((name) => name !== "cursor");
	const { cursor: _, ...filters } = query;
	const names = [...new Set([...Object.keys(filters).filter((name) => filters[name] !== ""), ...wrong])].filter((name) =>
		/^\w+$/.test(name),
	);
	const named = faults.map(({ path: name, message }) => ({ path: wordsOf(name), message }));
	return view(
		{ status: 422, title },
		<>
			<Faults title="This cannot be shown as it was asked for" faults={named} />
			{names.length === 0 ? null : (
				<form method="get" action={path} class="stack">
					{names.map((name) => (
						<Field name={name} label={wordsOf(name)} value={filters[name]} faults={faults} />
					))}
					<div class="buttons">
						<button type="submit">Show</button>
					</div>
				</form>
			)}
			<p>
				Correct it, or{" "}
				{list === undefined ? <a href={path}>see this page without filters</a> : <a href={list}>see the list without filters</a>}.
			</p>
		</>,
	);
}

/**
 * Where something that the page needs is away.
 * @param kept what was sent, of which nothing was done
 * @param isBegun whether it was, so that it may have been done
 */
export function awayView(kept: KeptForm | null, isBegun: boolean): View {
	return problemView(
		503,
		"Not just now",
		<>
			<p>
				Something this needs does not answer just now.{" "}
				{isBegun ? "What you asked may have been done all the same: look before you send it again." : "Try again in a few seconds."}
			</p>
			{kept === null ? null : <SendAgain {...kept} />}
		</>,
	);
}

/** Where something failed that should not have. @param requestId under which the log has it */
export function failureView(requestId: string): View {
	return problemView(
		500,
		"This did not work",
		<p>
			That is our fault, not yours. Try again; if it stays so, tell us this number: <code>{requestId}</code>
		</p>,
	);
}

/** A parameter's name, as a label has it. */
function wordsOf(name: string): string {
	return name.slice(0, 1).toUpperCase() + inWords(name.slice(1));
}

export function problemView(status: number, title: string, content: JSX.Element): View {
	return view(
		{ status, title },
		<div class="panel">
			{content}
			<p>
				<a href="/console">To the console</a>
			</p>
		</div>,
	);
}

/** The operator's faults, or those of reports and searches, which name fields. */
function readFaults({ faults, messages }: HttpError["body"]): Fault[] {
	if (Array.isArray(faults)) return faults as Fault[];
	if (typeof messages !== "object" || messages === null) return [];
	return Object.entries(messages as Record<string, string[]>).flatMap(([path, texts]) => texts.map((message) => ({ path, message })));
}
