/** Takes the fields of a report request out of its body, in whichever of three forms it comes. */
import { invalidFields } from "../http/errors.ts";
import { HttpError } from "../lib/http.ts";
import { parseJson } from "../lib/json.ts";
import { fromUtf8 } from "../lib/utf8.ts";
import { type Fields, givenOf } from "./read-report-query.ts";

const NO_FIELDS: Fields = new Map();
/** Of a Content-Encoding, where some clients name a character set. */
const COMPRESSED = /\b(?:gzip|deflate|br|zstd|compress)\b/i;

/**
 * Fields of a form (URL-encoded or multipart) or of a JSON object. What the body lacks is taken from the query string; of a field
 * that is repeated the first counts.
 * @throws HttpError 415 for a body of another type or a compressed one, 422 for one that cannot be read
 */
export async function readFields(request: Request): Promise<Fields> {
	const fields = new Map<string, unknown>(firstOfEach(new URL(request.url).searchParams));
	for (const [name, value] of await readBody(request)) if (givenOf(value) !== undefined) fields.set(name, value);
	return fields;
}

async function readBody(request: Request): Promise<Fields> {
	const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
	const isCompressed = COMPRESSED.test(request.headers.get("content-encoding") ?? "");
	if (type === "multipart/form-data" && !isCompressed) return readMultipart(request);
	const bytes = await request.arrayBuffer();
	// Read as it is, it would be said to lack its fields.
	if (isCompressed && bytes.byteLength > 0) throw unsupported("Send the body without a Content-Encoding.");
	const text = fromUtf8(bytes);
	if (type === "application/json" || type.endsWith("+json")) return readJson(text);
	if (type === "application/x-www-form-urlencoded") return firstOfEach(new URLSearchParams(text));
	if (text.trim() === "") return NO_FIELDS;
	throw unsupported("Send the fields as application/x-www-form-urlencoded, multipart/form-data or application/json.");
}

async function readMultipart(request: Request): Promise<Fields> {
	try {
		return firstOfEach(await request.formData());
	} catch (error) {
		// The runtime reports a body that is no multipart form as a TypeError.
		if (error instanceof TypeError) throw unreadable("The body is not a multipart form.");
		throw error;
	}
}

function firstOfEach(entries: Iterable<[string, unknown]>): Map<string, unknown> {
	return new Map([...entries].reverse());
}

function readJson(text: string): Fields {
	if (text.trim() === "") return NO_FIELDS;
	const body = parseJson(text);
	if (body === undefined) throw unreadable("The body is not JSON.");
	if (typeof body !== "object" || body === null || Array.isArray(body)) throw unreadable("The body is not a JSON object.");
	return new Map(Object.entries(body));
}

function unreadable(message: string): HttpError {
	return invalidFields({ body: [message] });
}

function unsupported(message: string): HttpError {
	return new HttpError(415, { error: "Unsupported media type", message });
}
