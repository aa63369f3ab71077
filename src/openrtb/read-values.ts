/** Values of a request, read tolerantly: null and blank are absent, harmless wrong types are read for what they mean. */
import { isObject } from "../lib/json.ts";

export type Json = Record<string, unknown>;
const EMPTY: Json = {};
const NO_TEXTS: readonly string[] = [];

/** Longest list of a request that is read: `badv`, `wseat`, `bseat`, `cur`, `bcat`, `acat`. A longer one is a no-bid. */
export const MAX_LIST_ENTRIES = 2_000;

/** Only one way to match each text: with two, a long one that is not a number would be tried in every combination. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export function object(value: unknown): Json {
	return isObject(value) ? value : EMPTY;
}

/** Nearly every text begins with a visible character: then nothing needs to be trimmed to tell. */
function isBlank(text: string): boolean {
	const first = text.charCodeAt(0);
	return !(first > 0x20 && first < 0x7f) && text.trim() === "";
}

export function isFilled(value: unknown): value is string {
	return typeof value === "string" && !isBlank(value);
}

/** A field that says something: not missing, null or a blank string. */
export function isPresent(value: unknown): boolean {
	return value !== undefined && value !== null && !(typeof value === "string" && isBlank(value));
}

/** A text field as sent; a number counts as its digits, anything else and blanks as absent. */
export function text(value: unknown): string | null {
	if (typeof value === "string") return isBlank(value) ? null : value;
	return typeof value === "number" ? String(value) : null;
}

export function isTooLong(value: unknown): boolean {
	return Array.isArray(value) && value.length > MAX_LIST_ENTRIES;
}

/** A list of texts; a single one counts as a list of one, and one that is too long as none: there is no bid on it. */
export function texts(value: unknown): readonly string[] {
	if (value === undefined || value === null || isTooLong(value)) return NO_TEXTS;
	const list: unknown[] = Array.isArray(value) ? value : [value];
	// Nearly always there is nothing to read otherwise, and nothing to leave out.
	return list.every(isFilled) ? list : list.map(text).filter((item) => item !== null);
}

/** 1 or true, as number, boolean or text in any letter case. */
export function isTrue(value: unknown): boolean {
	if (value === 1 || value === true) return true;
	if (typeof value !== "string") return false;
	const word = value.trim().toLowerCase();
	return word === "1" || word === "true";
}

/** A number, or a decimal string; what is neither stays as it is. */
export function decimal(value: unknown): unknown {
	return typeof value === "string" && DECIMAL.test(value.trim()) ? Number(value) : value;
}

export function positiveNumber(value: unknown): number | null {
	const number = decimal(value);
	return typeof number === "number" && number > 0 && Number.isFinite(number) ? number : null;
}
