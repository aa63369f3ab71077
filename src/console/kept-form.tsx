/** A form that could not be taken when it was sent: the page that says so keeps it, to be sent again from there. Nothing else does. */
import type { Context } from "hono";
import type { JSX } from "hono/jsx/jsx-runtime";
import { readCapped } from "../lib/read-capped.ts";
import { fromUtf8 } from "../lib/utf8.ts";
import type { Page } from "./page.ts";
import { FORM_FIELD } from "./ui/actions.tsx";
import { Field } from "./ui/field.tsx";

/** More than this is not typed, and nobody is known who sent it. */
const MAX_UNKNOWN_BYTES = 256 * 1024;
/** Of someone who is signed in: what a page hands back for its button may be in it. */
const MAX_KNOWN_BYTES = 4 * 1024 * 1024;

/** What a form was sent with; of files, which no page hands back, their fields' names. */
export type KeptForm = { action: string; isParts: boolean; fields: readonly (readonly [string, string])[]; files: readonly string[] };

/**
 * Keeps what was sent; null where there is nothing in it, or too much, and where it is a secret.
 * @param body where it was read already
 * @param isKnown whether the sender is signed in
 */
export async function keepForm(page: Page, c: Context, body: Uint8Array<ArrayBuffer> | null, isKnown: boolean): Promise<KeptForm | null> {
	if (page.method !== "POST" || page.isData === true || page.isSecret === true) return null;
	const most = isKnown ? MAX_KNOWN_BYTES : MAX_UNKNOWN_BYTES;
	const bytes = body ?? (c.req.raw.bodyUsed ? null : await readCapped(c.req.raw.body, most));
	if (bytes === null || bytes.byteLength > most) return null;
	const type = c.req.header("content-type") ?? "";
	const { pathname, search } = new URL(c.req.url);
	const isParts = /^multipart\/form-data\b/i.test(type);
	const entries = isParts ? await readParts(bytes, type) : readFields(bytes, type);
	const fields = entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : []));
	const files = entries.flatMap(([name, value]) => (typeof value === "string" || value.size === 0 ? [] : [name]));
	if (files.length === 0 && fields.every(([name, value]) => name === FORM_FIELD || value.trim() === "")) return null;
	return { action: pathname + search, isParts, fields, files };
}

function readFields(bytes: Uint8Array<ArrayBuffer>, type: string): [string, string][] {
	return /^application\/x-www-form-urlencoded\b/i.test(type) ? [...new URLSearchParams(fromUtf8(bytes))] : [];
}

async function readParts(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<[string, string | File][]> {
	try {
		return [...(await new Response(bytes, { headers: { "content-type": type } }).formData())];
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		return [];
	}
}

/** The button that sends it again, as it was. Nothing of it is shown: whoever looks on by now may be another. */
export function SendAgain({ action, isParts, fields, files }: KeptForm): JSX.Element {
	return (
		<form method="post" action={action} class="stack" {...(isParts && { enctype: "multipart/form-data" })}>
			{fields.map(([name, value]) => (
				<input type="hidden" name={name} value={value} />
			))}
			{files.map((name) => (
				<Field kind="file" name={name} label="The same file again" hint="A file cannot be kept" required />
			))}
			<div class="buttons">
				<button type="submit">Send it again</button>
			</div>
		</form>
	);
}
