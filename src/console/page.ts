/** A page of the console: its address, whom it takes, and what it shows. Nothing is mounted that is not one. */
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Actor } from "../http/actor.ts";
import type { OperatorRole, PublisherRole } from "../lib/access-enums.ts";
import type { ConsoleDeps } from "./deps.ts";
import type { Person, SeenPublisher, Session } from "./session/sessions.ts";
import type { LayoutProps } from "./ui/layout.tsx";

/**
 * Whom a page takes. `nobody`: no session is needed; `anyone`: whoever is signed in.
 * `publisher`: a publisher's people of that role or a greater one; staff that looks at its console as an analyst that changes nothing.
 * `staff`: the operator's staff of that role, as `mayAct` has it.
 * `fresh`: a passkey or a one-time link was used in the last ten minutes.
 * `active`: not where the publisher is suspended, as its verb has it; what is not GET never is, but `evenSuspended`: what only takes away.
 */
export type Needs =
	| "nobody"
	| "anyone"
	| { anyone: true; fresh: true }
	| { publisher: PublisherRole; fresh?: true; active?: true; evenSuspended?: true }
	| { staff: OperatorRole; fresh?: true };

/** What every page is told. */
type Told = {
	c: Context;
	deps: ConsoleDeps;
	now: number;
	query: Record<string, string>;
	/** Of a form that was sent as such; empty for every other body. */
	form: URLSearchParams;
	/** As it was sent, at most {@link Page.maxBytes}: of files, and of what scripts send. */
	body: Uint8Array<ArrayBuffer>;
	/** Part of the address by its name in the path; empty where the path has none of that name. */
	param: (name: string) => string;
};

type SignedIn = Told & {
	session: Session;
	person: Person;
	/** Who makes the changes of this request. */
	actor: Actor;
};

/** Of a page of a publisher's. */
export type PublisherRequest = SignedIn & { publisher: SeenPublisher };
/** Of a page of staff's, or of anyone's. */
export type PersonRequest = SignedIn;
/** Of a page that needs no session; there may be one. */
type OpenRequest = Told & { session: Session | null };

type RequestOf<Need extends Needs> = Need extends "nobody"
	? OpenRequest
	: Need extends { publisher: PublisherRole }
		? PublisherRequest
		: PersonRequest;

/**
 * What the layout is told beside what the guard tells it, the answer's status, and whether the browser may keep the answer to a form for
 * its button back, as it may where one was refused: only where it has nothing that is shown once.
 */
export type ViewOptions = Partial<Omit<LayoutProps, "menu" | "path" | "person" | "banner" | "children">> & {
	status?: number;
	mayReturn?: true;
};

/** A page's content with more than its entry says: another title, another status. */
export class View {
	readonly content: JSX.Element;
	readonly options: ViewOptions;

	constructor(content: JSX.Element, options: ViewOptions) {
		this.content = content;
		this.options = options;
	}
}

export function view(options: ViewOptions, content: JSX.Element): View {
	return new View(content, options);
}

/** Content, around which the guard puts the layout; or the whole answer. */
export type Shown = JSX.Element | View | Response;

type Entry<Need extends Needs> = {
	method: "GET" | "POST";
	/** As hono has it: `/console/brands/:domain`. */
	path: `/console${string}`;
	needs: Need;
	title: string;
	/** True for what is no page, such as a file or an answer to a script: without a session it answers 401, and faults are JSON. */
	isData?: true;
	/** What it makes is shown once: its forms have an `Once`, and one that is sent again makes nothing. */
	once?: true;
	/** What is typed into its form is a secret: no answer has it, not even to send it again. */
	isSecret?: true;
	/** Also where the network database takes no writes, since it is being moved: it writes nothing then. */
	evenHeld?: true;
	/** The list that its query is of, which says nothing without one: where it cannot be read, the way on is that list. */
	list?: `/console${string}`;
	/** Most bytes of a body; 64 KiB where nothing is said. */
	maxBytes?: number;
	/** @throws HttpError whose faults, or message, are shown as a page */
	handle: (request: RequestOf<Need>) => Shown | Promise<Shown>;
};

export type Page = Omit<Entry<Needs>, "handle"> & {
	/** Called by the guard, which gives each kind of page the request that is its own. */
	handle: (request: OpenRequest | PersonRequest | PublisherRequest) => Shown | Promise<Shown>;
};

export function page<const Need extends Needs>(entry: Entry<Need>): Page {
	return { ...entry, handle: (request) => entry.handle(request as RequestOf<Need>) };
}

/** Leads on after a form: the next page is asked for by GET. @param path of the console */
export function seeOther(path: string, headers: Record<string, string> = {}): Response {
	return new Response(null, { status: 303, headers: { ...headers, location: path } });
}
