/** Writes the OpenAPI 3.1 description of operations. */
import {
	type Answer,
	type Answers,
	type Content,
	type Credential,
	type Described,
	type Example,
	FORM_TYPES,
	type Operation,
	type Parameter,
	type Webhook,
} from "./operation.ts";
import { FORBIDDEN, OTHER_METHOD, TOO_MANY_REQUESTS, UNAVAILABLE } from "./operations/shapes.ts";
import { type Json, Schemas } from "./schemas.ts";

export type Hosts = { baseUrl: string; rtbUrl: string; clickUrl: string };

const CREDENTIALS: Record<Credential, string> = {
	AccessKey: "Access Key of a publisher: everything under `/api` but product searches and postbacks.",
	PublisherKey: "Publisher Key of a publisher: product searches.",
	OperatorKey:
		"An operator key, or the secret OPERATOR_KEY. The name beside it is the role that an operation takes: everyone has viewer's, an admin all.",
};

/** The whole description, as it is to be read at `now`: dates of examples are of the days before it. */
export function writeOpenApi(described: Described, hosts: Hosts, now: number): Json {
	return new Description(described, hosts, now).write();
}

class Description {
	readonly #described: Described;
	readonly #hosts: Hosts;
	readonly #now: number;
	readonly #schemas = new Schemas();

	constructor(described: Described, hosts: Hosts, now: number) {
		this.#described = described;
		this.#hosts = hosts;
		this.#now = now;
	}

	write(): Json {
		const { title, description, operations, webhooks, tags } = this.#described;
		const paths: Record<string, Json> = {};
		for (const operation of operations) {
			paths[operation.path] = { ...paths[operation.path], [operation.method]: this.#operation(operation) };
		}
		const calls = webhooks.map((webhook) => [webhook.name, { [webhook.method]: { ...this.#call(webhook), security: [] } }]);
		const credentials = new Set(operations.flatMap(({ credential }) => credential ?? []));
		return {
			openapi: "3.1.0",
			info: {
				title,
				version: "1.0.0",
				description,
				contact: { name: "Your account manager" },
				license: { name: "MIT", identifier: "MIT" },
			},
			servers: [{ url: "/", description: "The host that this description comes from." }, { url: this.#hosts.baseUrl }],
			tags,
			paths,
			...(calls.length > 0 && { webhooks: Object.fromEntries(calls) }),
			components: {
				securitySchemes: Object.fromEntries(
					[...credentials].map((name) => [name, { type: "apiKey", in: "header", name, description: CREDENTIALS[name] }]),
				),
				// Last: by now all that is referred to has been written.
				schemas: this.#schemas.components(),
			},
		};
	}

	#operation(operation: Operation): Json {
		const { credential, role, answers } = operation;
		const server = this.#serverOf(operation);
		return {
			...this.#call({
				...operation,
				answers: {
					...(role !== undefined && { 403: FORBIDDEN, 405: OTHER_METHOD }),
					...(credential !== undefined && { 429: TOO_MANY_REQUESTS }),
					...(credential !== undefined && !(500 in answers) && { 503: UNAVAILABLE }),
					...answers,
				},
			}),
			...(server !== undefined && { servers: [{ url: server }] }),
			security: credential === undefined ? [] : [{ [credential]: role === undefined ? [] : [role] }],
		};
	}

	/** Undefined where it is served by the host that serves all others. */
	#serverOf({ host }: Operation): string | undefined {
		const { baseUrl, rtbUrl, clickUrl } = this.#hosts;
		const own = { base: baseUrl, rtb: rtbUrl, click: clickUrl }[host];
		return new URL(own).host === new URL(baseUrl).host ? undefined : own;
	}

	#call({ id, tag, summary, description, parameters, body, answers }: Omit<Webhook, "name">): Json {
		return {
			operationId: id,
			tags: [tag],
			summary,
			...(description !== undefined && { description }),
			...(parameters !== undefined && { parameters: parameters.map((parameter) => this.#parameter(parameter)) }),
			...(body !== undefined && { requestBody: { required: body.required, content: this.#contents(body.contents) } }),
			responses: this.#responses(id, answers),
		};
	}

	#parameter({ in: place, name, required, description, schema, example }: Parameter): Json {
		return {
			in: place,
			name,
			required: place === "path" || required === true,
			description,
			schema: this.#schemas.write(schema),
			...(example !== undefined && { example: this.#exampleOf(example) }),
		};
	}

	#responses(id: string, answers: Answers): Json {
		const { examples } = this.#described;
		return Object.fromEntries(
			Object.entries(answers).map(([status, answer]) => {
				const written = this.#answer(answer);
				const body = written.content?.["application/json"];
				if (status === "200" && body !== undefined && id in examples) body.example = examples[id];
				return [status, written];
			}),
		);
	}

	#answer({ description, content, headers }: Answer): { description: string; headers?: Json; content?: Record<string, Json> } {
		return {
			description,
			...(headers !== undefined && {
				headers: Object.fromEntries(
					Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: "string" } }]),
				),
			}),
			...(content !== undefined && { content: this.#contents(Array.isArray(content) ? content : [content as Content]) }),
		};
	}

	#contents(contents: readonly Content[]): Record<string, Json> {
		return Object.fromEntries(
			contents.map(({ schema, type = "application/json", example }) => {
				const json: Json = schema === null ? { type: "string" } : this.#schemas.write(schema);
				if (example === undefined) return [type, { schema: json }];
				const value = this.#exampleOf(example);
				return [type, { schema: FORM_TYPES.includes(type) ? withExamples(json, value) : json, example: value }];
			}),
		);
	}

	#exampleOf(example: Example): unknown {
		return typeof example === "function" ? this.#exampleOf(example(this.#now)) : example;
	}
}

/** A form's schema with its example field by field: so viewers show forms. */
function withExamples(json: Json, example: unknown): Json {
	const values = example as Json;
	const properties = Object.entries(json.properties as Record<string, Json>).map(([name, property]) => [
		name,
		name in values ? { ...property, examples: [values[name]] } : property,
	]);
	return { ...json, properties: Object.fromEntries(properties) };
}
