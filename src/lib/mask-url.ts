/** Addresses as they may be shown to whoever cannot change them: without what may be a secret in them. */
import { CALLBACK_PARAMETERS } from "./callback-url.ts";

const MASK = "***";
/** A macro that is filled in when the address is called. */
const MACRO = /^\{[^{}]*\}$/;
/** A part of a path that no person made up. */
const SECRET_SEGMENT = /^(?=.*\d)(?=.*[A-Za-z])[\w~.-]{16,}$/;

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
 * have letters and digits.
 * @param url an absolute address
 * @param shown names of parameters whose values are no secrets
 */
function maskUrl(url: string, shown: readonly string[]): string {
	const { protocol, host, pathname, search } = new URL(url);
	const path = pathname.split("/").map((part) => (SECRET_SEGMENT.test(part) ? MASK : part));
	const query = search
		.slice(1)
		.split("&")
		.filter((parameter) => parameter !== "")
		.map((parameter) => maskParameter(parameter, shown));
	return `${protocol}//${host}${path.join("/")}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

function maskParameter(parameter: string, shown: readonly string[]): string {
	const [[name, value] = ["", ""]] = new URLSearchParams(parameter);
	if (value === "" && SECRET_SEGMENT.test(name)) return MASK;
	if (value === "" || MACRO.test(value) || shown.includes(name)) return parameter;
	return `${encodeURIComponent(name)}=${MASK}`;
}
