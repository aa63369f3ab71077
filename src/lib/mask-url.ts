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
	const path = pathname.split("/").map((part) => (isMadeUp(part.replaceAll("+", "%2B")) ? MASK : part));
	const query = search
		.slice(1)
		.split("&")
		.filter((parameter) => parameter !== "")
		.map((parameter) => maskParameter(parameter, shown));
	return `${protocol}//${host}${path.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}${hash === "" ? "" : `#${MASK}`}`;
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
