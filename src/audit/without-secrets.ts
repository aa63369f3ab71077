/** What of a value may be kept for good and shown to every viewer. Pure. */
import { maskCallbackUrl } from "../lib/mask-url.ts";

/** Names of fields that hold a secret: `access_key`, `postback_secret`, `postbackSecret`. */
const SECRET_NAME = /(?:^|_|[a-z])(?:key|keys|secret|secrets|password|token)$/i;
/** Fields whose own names are others' words, such as the keyword "whiskey": none of them says that there is a secret. */
const OF_OTHERS_WORDS: ReadonlySet<string> = new Set(["keyword_epc", "status_map"]);
/** Keys and secrets as they are issued, wherever they stand. */
const ISSUED_SECRET = /\b(?:ak|pk|plk|opk|whsec)_[\w+/=-]{24,}/g;

const LEFT_OUT = "(secret)";

/**
 * The same JSON, with `(secret)` in the place of every secret: of what a field is named for one, and of what looks like one that was
 * issued; in a callback address, of what may be one. Null and booleans stay: that there is none is no secret.
 */
export function withoutSecrets(value: unknown): unknown {
	return readWithout(value, SECRET_NAME);
}

/** @param secretName null where names tell nothing */
function readWithout(value: unknown, secretName: RegExp | null): unknown {
	if (typeof value === "string") return value.replaceAll(ISSUED_SECRET, LEFT_OUT);
	if (Array.isArray(value)) return value.map((member) => readWithout(member, SECRET_NAME));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, member]) => [
			name,
			name === "callback_url" && typeof member === "string"
				? maskCallbackUrl(member)
				: secretName?.test(name)
					? hide(member)
					: readWithout(member, OF_OTHERS_WORDS.has(name) ? null : SECRET_NAME),
		]),
	);
}

function hide(member: unknown): unknown {
	if (member === null || member === undefined || typeof member === "boolean") return member;
	return Array.isArray(member) ? member.map(hide) : LEFT_OUT;
}
