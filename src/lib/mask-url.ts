/** Addresses as they may be shown to whoever has a key of their owner: without what may be a secret in them. */

const MASK = "***";
/** A macro that is filled in when the address is called. */
const MACRO = /^\{[^{}]*\}$/;
/** A part of a path that no person made up. */
const SECRET_SEGMENT = /^(?=.*\d)(?=.*[A-Za-z])[\w~.-]{16,}$/;

/**
 * The address with values of its query masked, but for macros and the parameters that are named, and likewise long parts of its path that
 * have letters and digits.
 * @param url an absolute address
 * @param shown names of parameters whose values are no secrets
 */
export function maskUrl(url: string, shown: readonly string[]): string {
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
	if (value === "" || MACRO.test(value) || shown.includes(name)) return parameter;
	return `${encodeURIComponent(name)}=${MASK}`;
}
