/** How an endpoint is described: its schemas are the valibot schemas that read its requests, or that its answers are tested against. */
import type * as v from "valibot";
import type { OperatorRole } from "../lib/access-enums.ts";

export type Credential = "AccessKey" | "PublisherKey" | "OperatorKey";

/** A value that works as it stands; a function of the time at which the description is read, where it has to be of these days. */
export type Example = string | number | Readonly<Record<string, unknown>> | ((now: number) => Example);

export type Parameter = {
	in: "query" | "path" | "header";
	name: string;
	required?: boolean;
	description: string;
	schema: v.GenericSchema;
	example?: Example;
};

/** How a form may come. */
export const FORM_TYPES: readonly string[] = ["application/x-www-form-urlencoded", "multipart/form-data"];

/** `schema` is null where the body is plain text. */
export type Content = { schema: v.GenericSchema | null; type?: string; example?: Example };

export type Answer = {
	description: string;
	/** Absent where the answer has no body. */
	content?: Content | readonly Content[];
	headers?: Record<string, string>;
};

type Call = {
	method: "get" | "post" | "patch" | "delete";
	/** Unique name: SDK generators make a function of it. */
	id: string;
	tag: string;
	summary: string;
	description?: string;
	parameters?: readonly Parameter[];
	body?: { required: boolean; contents: readonly Content[] };
	/**
	 * With a role it has a 403 and a 405 that are not named here; with a credential a 429, and a 503 unless it has a 500 of its own, which are
	 * named only where they are others.
	 */
	answers: Answers;
};

/** The operator's say which role they take: src/operator/routes.ts lets nobody else through. */
type Credentials =
	| { credential?: Exclude<Credential, "OperatorKey">; role?: undefined }
	| { credential: "OperatorKey"; role: OperatorRole };

export type Operation = Call &
	Credentials & {
		/** Path template, `/openrtb/{publisher_identity}`. */
		path: string;
		/** Which host serves it: `rtb` the real-time ad host, `click` the click tracker, `base` all others. */
		host: "rtb" | "click" | "base";
	};

/** By HTTP status, or a range of them. */
export type Answers = Record<number | `${number}XX`, Answer>;

/** A call that the service makes, to an address that is told to it. */
export type Webhook = Call & { name: string };

/** One description: what it is of, and for whom. */
export type Described = {
	title: string;
	description: string;
	operations: readonly Operation[];
	webhooks: readonly Webhook[];
	/** In the order in which groups are shown. */
	tags: readonly { name: string; description: string }[];
	/** Body of the 200 of an operation, by its id: a real answer. */
	examples: Readonly<Record<string, unknown>>;
};
