/** Sends one request to the operator's endpoints of a server. */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isObject } from "../../src/lib/json.ts";
import { errorCode, Failure } from "../local/failure.ts";
import { sayWhatLists } from "./what-lists.ts";

export type Target = {
	/** Such as http://localhost:8787. */
	origin: string;
	key: string;
	/** Where the key was found, for messages. */
	keySource: string;
};

export type Answer = {
	status: number;
	body: unknown;
	/** Of what was read; null where the answer names none. */
	etag: string | null;
	/** The body as it came. */
	text: string;
};

export type CallOptions = {
	/** Otherwise POST where there is a body, else GET. */
	method?: "PATCH";
	/** The state that was read. */
	ifMatch?: string;
};

/** The server may have taken what was sent, but its answer has not come. */
export class Unanswered extends Failure {}

/**
 * POSTs JSON, or GETs where there is no body, and returns the answer, which is JSON too. There is no time limit: a large import
 * takes as long as it takes.
 * @param onSent told how many bytes of the body have gone out
 * @throws Failure where there is no such server, the key is refused, what the path names by its id is not there, or the answer is not
 * the operator endpoints'
 */
export async function callOperator(
	target: Target,
	path: string,
	body: string | Buffer | null,
	onSent: (bytes: number) => void = () => {},
	options: CallOptions = {},
): Promise<Answer> {
	const url = new URL(path, target.origin);
	const { status, text, etag } = await send(url, target.key, body === null ? null : Buffer.from(body), onSent, options).catch(
		(error: unknown) => {
			const code = errorCode(error);
			if (code !== undefined && NOTHING_SENT.has(code)) throw new Failure(unreachable(target.origin, code));
			throw new Unanswered(`${unreachable(target.origin, code ?? String(error))}${body === null ? "" : `\n${MAY_BE_DONE}`}`);
		},
	);
	if (status === 401) {
		throw new Failure(
			`The server at ${target.origin} refused the operator key from ${target.keySource} (HTTP 401).\n` +
				"Give the key that the server runs with: --key-file FILE, or OPERATOR_KEY in the environment.",
		);
	}
	if (status === 403) {
		const told = messageOf(parse(text, url, status));
		throw new Failure(
			`The operator key from ${target.keySource} does not allow this (HTTP 403), and nothing was changed.${told === null ? "" : ` ${told}`}`,
		);
	}
	if (status === 404) {
		// Of what is not there a message tells; of a path that is nowhere, or a key that is unknown where there is no OPERATOR_KEY, none does.
		const missing = messageOf(parse(text, url, status));
		if (missing !== null) throw new Failure([missing, ...sayWhatLists([missing])].join("\n"));
		throw new Failure(
			`The server at ${target.origin} has no ${url.pathname} (HTTP 404).\n` +
				"Is it a Clickbourse server (--url names another)? One that was started without an OPERATOR_KEY has operator endpoints for the operator keys it has issued alone.",
		);
	}
	return { status, body: parse(text, url, status, body !== null), etag, text };
}

/** What an answer says in words; null where it says nothing. */
export function messageOf(body: unknown): string | null {
	return isObject(body) && typeof body.message === "string" ? body.message : null;
}

/** @param isSent whether there was a body, which may have been taken where a gateway answers in the server's place */
function parse(text: string, url: URL, status: number, isSent = false): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		const told = `${url} answered HTTP ${status} with something other than JSON: ${text.slice(0, 200)}\nIs this a Clickbourse server? --url names another.`;
		throw isSent && status >= 500 ? new Unanswered(`${told}\n${MAY_BE_DONE}`) : new Failure(told);
	}
}

type Sent = { status: number; text: string; etag: string | null };

async function send(
	url: URL,
	key: string,
	body: Buffer | null,
	onSent: (bytes: number) => void,
	{ method: given, ifMatch }: CallOptions,
): Promise<Sent> {
	const request = url.protocol === "https:" ? requestHttps : requestHttp;
	const outgoing = request(url, {
		method: given ?? (body === null ? "GET" : "POST"),
		headers: {
			OperatorKey: key,
			...(ifMatch !== undefined && { "If-Match": ifMatch }),
			...(body !== null && { "Content-Type": "application/json", "Content-Length": body.length }),
		},
	});
	const answered = new Promise<Sent>((resolve, reject) => {
		outgoing.on("error", reject);
		outgoing.on("response", (response) => {
			let text = "";
			response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
			response
				.on("end", () => resolve({ status: response.statusCode ?? 0, text, etag: response.headers.etag ?? null }))
				.on("error", reject);
		});
	});
	let sent = 0;
	const meter = new Transform({
		transform(chunk: Buffer, _encoding, done) {
			sent += chunk.length;
			onSent(sent);
			done(null, chunk);
		},
	});
	const upload = pipeline(Readable.from(chunks(body ?? Buffer.alloc(0))), meter, outgoing);
	// A server may answer before it has read the whole body, and close: then its answer counts, not the broken pipe. Where it gave
	// none, the request has failed with the same error.
	const [answer] = await Promise.all([answered, upload.catch(() => undefined)]);
	return answer;
}

const CHUNK_BYTES = 256 * 1024;

function* chunks(body: Buffer): Generator<Buffer> {
	for (let at = 0; at < body.length; at += CHUNK_BYTES) yield body.subarray(at, at + CHUNK_BYTES);
}

const MAY_BE_DONE = "What was sent may have arrived: see whether it was done before you send it again.";

/** Codes of a line that was never there. */
const NOTHING_SENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

function unreachable(origin: string, why: string): string {
	return (
		`The server at ${origin} cannot be reached (${why}).\n` +
		"Start one with `npm start`, or name a running one: --url https://your-network.example"
	);
}
