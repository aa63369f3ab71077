/** Whether a postback comes from its platform, as far as the platform has said how to tell: docs/postbacks.md has the rules. */
import type { PlatformSender } from "../keys/key-owners.ts";
import { isInRanges } from "../lib/ip-ranges.ts";
import { decodeText } from "../lib/query.ts";
import { utf8 } from "../lib/utf8.ts";
import type { FieldErrors } from "./answers.ts";
import { MAX_BODY_BYTES, MAX_QUERY_BYTES } from "./read-request.ts";

const SIGNATURE = "sig";
const TOO_LARGE = `The query may hold at most ${MAX_QUERY_BYTES} bytes, and so may the body (${MAX_BODY_BYTES}).`;

export type Sent = {
	/** Query and form as they came, joined by `&`; null where they are too large to be read. */
	text: string | null;
	/** The `sig` parameter, where there is one. */
	signature: string | undefined;
	/** Where it came from; null where that is not known. */
	address: string | null;
};

/** What speaks against a postback's being the platform's, or keeps that from being told; null where nothing does. */
export async function findSenderFault(
	{ sourceRanges, postbackSecret }: Pick<PlatformSender, "sourceRanges" | "postbackSecret">,
	sent: Sent,
): Promise<FieldErrors | null> {
	if (sourceRanges !== null && (sent.address === null || !isInRanges(sent.address, sourceRanges))) {
		return { request: ["The request does not come from an address of the platform."] };
	}
	if (sent.text === null) return { request: [TOO_LARGE] };
	if (postbackSecret === null) return null;
	if (sent.signature === undefined) return { sig: ["The sig field is required."] };
	return (await isSigned(postbackSecret, sent.text, sent.signature)) ? null : { sig: ["The sig is invalid."] };
}

/** Verified by the runtime, in a time that does not tell where signatures differ. */
async function isSigned(secret: string, text: string, signature: string): Promise<boolean> {
	if (!/^[0-9a-f]{64}$/.test(signature)) return false;
	const key = await crypto.subtle.importKey("raw", utf8(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
	return crypto.subtle.verify("HMAC", key, Uint8Array.fromHex(signature), utf8(withoutSignature(text)));
}

function withoutSignature(text: string): string {
	return text
		.split("&")
		.filter((part) => decodeText(part.split("=", 1)[0] ?? "") !== SIGNATURE)
		.join("&");
}
