/** Writes the OpenAPI 3.1 description of operations. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import type { Answer, Content, Credential, Operation, Parameter, Webhook } from "./operation.ts";

type Json = Record<string, unknown>;

export type Hosts = { baseUrl: string; rtbUrl: string; clickUrl: string };

const CREDENTIALS: Record<Credential, string> = {
	AccessKey: "Access Key of a publisher: brand lists and reports.",
	PublisherKey: "Publisher Key of a publisher: product searches.",
	OperatorKey: "The operator's secret (OPERATOR_KEY).",
};

export type Described = {
	operations: readonly Operation[];
	webhooks: readonly Webhook[];
	/** In the order in which groups are shown. */
	tags: readonly { name: string; description: string }[];
};

/** The whole description. */
export function writeOpenApi({ operations, webhooks, tags }: Described, hosts: Hosts): Json {
	const paths: Record<string, Json> = {};
	for (const operation of operations) {
		paths[operation.path] = { ...paths[operation.path], [operation.method]: writeOperation(operation, hosts) };
	}
	return {
		openapi: "3.1.0",
		info: {
			title: "Clickbourse",
			version: "1.0.0",
			description: "Publisher affiliate network with real-time ad serving. Money is USD; dates and times are UTC.",
			license: { name: "MIT", identifier: "MIT" },
		},
		servers: [{ url: hosts.baseUrl }],
		tags,
		paths,
		webhooks: Object.fromEntries(webhooks.map((webhook) => [webhook.name, { [webhook.method]: writeCall(webhook) }])),
		components: {
			securitySchemes: Object.fromEntries(
				Object.entries(CREDENTIALS).map(([name, description]) => [name, { type: "apiKey", in: "header", name, description }]),
			),
		},
	};
}

function writeOperation(operation: Operation, hosts: Hosts): Json {
	const { credential, host } = operation;
	return {
		...writeCall(operation),
		...(host === "base" ? {} : { servers: [{ url: host === "rtb" ? hosts.rtbUrl : hosts.clickUrl }] }),
		security: credential === undefined ? [] : [{ [credential]: [] }],
	};
}

function writeCall({ id, tag, summary, description, parameters, body, answers }: Omit<Webhook, "name">): Json {
	return {
		operationId: id,
		tags: [tag],
		summary,
		...(description === undefined ? {} : { description }),
		...(parameters === undefined ? {} : { parameters: parameters.map(writeParameter) }),
		...(body === undefined ? {} : { requestBody: { required: body.required, content: writeContents(body.contents) } }),
		responses: Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, writeAnswer(answer)])),
	};
}

function writeParameter({ in: place, name, required, description, schema, example }: Parameter): Json {
	return {
		in: place,
		name,
		required: place === "path" || required === true,
		description,
		schema: schemaOf(schema),
		...(example === undefined ? {} : { example }),
	};
}

function writeAnswer({ description, content, headers }: Answer): Json {
	return {
		description,
		...(headers === undefined
			? {}
			: {
					headers: Object.fromEntries(
						Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: "string" } }]),
					),
				}),
		...(content === undefined ? {} : { content: writeContents(Array.isArray(content) ? content : [content as Content]) }),
	};
}

function writeContents(contents: readonly Content[]): Json {
	return Object.fromEntries(
		contents.map(({ schema, type = "application/json", example }) => [
			type,
			{ schema: schema === null ? { type: "string" } : schemaOf(schema), ...(example === undefined ? {} : { example }) },
		]),
	);
}

/** What a caller may send or gets: checks and transformations that JSON Schema has no words for are left out. */
function schemaOf(schema: v.GenericSchema): Json {
	const { $schema: _dialect, ...json } = toJsonSchema(schema, { typeMode: "input", errorMode: "ignore" });
	return json;
}
