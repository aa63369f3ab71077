/** How an endpoint is described: its schemas are the valibot schemas that read its requests, or that its answers are tested against. */
import type * as v from "valibot";

export type Credential = "AccessKey" | "PublisherKey" | "OperatorKey";

export type Parameter = {
	in: "query" | "path" | "header";
	name: string;
	required?: boolean;
	description: string;
	schema: v.GenericSchema;
	example?: unknown;
};

export type Content = { schema: v.GenericSchema | null; type?: string; example?: unknown; description?: string };

export type Answer = {
	description: string;
	/** Absent where the answer has no body. */
	content?: Content | readonly Content[];
	headers?: Record<string, string>;
};

export type Operation = {
	method: "get" | "post" | "delete";
	/** Path template, `/openrtb/{publisher_identity}`. */
	path: string;
	/** Unique name: SDK generators make a function of it. */
	id: string;
	tag: string;
	summary: string;
	description?: string;
	credential?: Credential;
	/** Which host serves it: `rtb` the real-time ad host, `click` the click tracker, `base` all others. */
	host: "rtb" | "click" | "base";
	parameters?: readonly Parameter[];
	body?: { required: boolean; contents: readonly Content[] };
	answers: Answers;
};

/** By HTTP status, or a range of them. */
export type Answers = Record<number | `${number}XX`, Answer>;

/** A call that the service makes, to an address that is told to it. */
export type Webhook = Omit<Operation, "path" | "host" | "credential"> & { name: string };
