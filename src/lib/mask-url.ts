/** Addresses as they may be shown to whoever cannot change them: without what may be a secret in them. */
import { CALLBACK_PARAMETERS, replaceMacros } from "./callback-url.ts";
import { decodeText } from "./query.ts";

const MASK = "***";
/** A macro that is filled in when the address is called. */
const MACRO = /^\{[^{}]*\}$/;
/** What no person made up: of whatever tokens are written in. */
const MADE_UP = /^(?=.*\d)(?=.*[A-Za-z]).{16,}$/s;

/** A publisher's callback address without what may be a secret in it; whole where nothing is. What cannot be read is hidden whole. */
export function maskCallbackUrl(url: string): string {
	if (!URL.canParse(url)) return MASK;
	const masked = maskUrl(url, CALLBACK_PARAMETERS);
	return masked.includes(MASK) ? masked : url;
}

/** Shorter ones may be words of any answer. */
const LEAST_HIDDEN_LENGTH = 8;
/** As many characters of one, at the end of an answer that is cut off, are a part of it. */
const LEAST_BEGUN_LENGTH = 4;

/**
 * What a receiver has answered, without what {@link maskCallbackUrl} hides of its address, which many a page of an error repeats.
 * @param url   an absolute address
 * @param isCut whether the answer went on: it may end within a secret
 */
export function hideSecretsIn(answer: string, url: string, isCut = false): string {
	const { pathname, search } = new URL(url);
	const hidden = [
		...pathname.split("/").filter((part) => maskPathPart(part) !== part),
		...search
			.slice(1)
			.split("&")
			.flatMap((parameter) => hiddenIn(parameter)),
	];
	const pieces = hidden
		.flatMap((part) => replaceMacros(part, () => "\n").split("\n"))
		.filter((piece) => piece.length >= LEAST_HIDDEN_LENGTH)
		.flatMap(spellingsOf)
		.sort((a, b) => b.length - a.length);
	if (pieces.length === 0) return answer;
	const whole = answer.replaceAll(new RegExp(pieces.map(escapePattern).join("|"), "gi"), MASK);
	return isCut ? whole.slice(0, whole.length - Math.max(...pieces.map((piece) => begunLength(whole, piece)))) : whole;
}

/** As it was sent, as it is read, and as that is written in JSON and in HTML. */
function spellingsOf(piece: string): string[] {
	const text = decodeText(piece);
	return [piece, text, text.replaceAll("/", "\\/"), text.replaceAll("&", "&amp;")];
}

function escapePattern(text: string): string {
	return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** How much of a piece a text ends with. */
function begunLength(text: string, piece: string): number {
	for (let length = piece.length - 1; length >= LEAST_BEGUN_LENGTH; length--) {
		if (text.endsWith(piece.slice(0, length))) return length;
	}
	return 0;
}

/** What of a parameter is masked: its value, or all of it. */
function hiddenIn(parameter: string): string[] {
	const masked = maskParameter(parameter, CALLBACK_PARAMETERS);
	if (masked === parameter) return [];
	return [masked === MASK ? parameter : parameter.slice(parameter.indexOf("=") + 1)];
}

/** Whether something is hidden in an address: it is none to be called. */
export function isMasked(url: string): boolean {
	return url.includes(MASK);
}

/**
 * The address with values of its query masked, but for macros and the parameters that are named, and likewise long parts of its path that
 * have letters and digits, and what stands behind a hash sign.
 * @param url an absolute address
 * @param shown names of parameters whose values are no secrets
 */
function maskUrl(url: string, shown: readonly string[]): string {
	const { protocol, host, pathname, search, hash } = new URL(url);
	const path = pathname.split("/").map(maskPathPart);
	const query = search
		.slice(1)
		.split("&")
		.filter((parameter) => parameter !== "")
		.map((parameter) => maskParameter(parameter, shown));
	return `${protocol}//${host}${path.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}${hash === "" ? "" : `#${MASK}`}`;
}

function maskPathPart(part: string): string {
	return isMadeUp(part.replaceAll("+", "%2B")) ? MASK : part;
}

/** Whether an escaped text, but for its macros, is one that no person made up. */
function isMadeUp(text: string): boolean {
	return MADE_UP.test(decodeText(replaceMacros(text, () => "")));
}

function maskParameter(parameter: string, shown: readonly string[]): string {
	const [[name, value] = ["", ""]] = new URLSearchParams(parameter);
	// Base64 ends with such signs.
	if (/^=*$/.test(value) && MADE_UP.test(name)) return MASK;
	if (value === "" || MACRO.test(value) || shown.includes(name)) return parameter;
	return `${encodeURIComponent(name)}=${MASK}`;
}
