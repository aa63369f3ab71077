/** Reads the query parameters of the searches. Blank is absent; a parameter that is repeated counts once, the first. */
import { invalidFields } from "../http/errors.ts";
import type { Query } from "../lib/query.ts";

/** In characters (code points). */
export const MAX_TEXT_LENGTH = 255;
export const DEFAULT_PER_PAGE = 20;
export const MAX_PER_PAGE = 100;
/** Beyond every possible page, and safe to calculate with. */
export const MAX_PAGE = 1_000_000_000;

type Messages = Record<string, string[]>;

/** @throws HttpError 422 that names each parameter at fault */
export function readAffiliateQuery(query: Query): { keyword: string; domain: string | null } {
	const keyword = query.get("keyword") ?? "";
	if (keyword.trim() === "") refuse({ keyword: ["The keyword field is required."] });
	if (isTooLong(keyword)) refuse({ keyword: [tooLong("keyword")] });
	return { keyword, domain: textOf(query, "domain") };
}

/** @throws HttpError 422 that names each parameter at fault */
export function readMarketplaceQuery(query: Query): { q: string | null; seller: string | null; page: number; perPage: number } {
	const messages: Messages = {};
	const q = textOf(query, "q");
	const seller = textOf(query, "seller");
	if (q === null && seller === null) messages.q = ["The q or seller field is required."];
	if (q !== null && isTooLong(q)) messages.q = [tooLong("q")];
	if (seller !== null && isTooLong(seller)) messages.seller = [tooLong("seller")];
	const page = numberOf(query, "page", 1, messages);
	if (page > MAX_PAGE) messages.page = [`The page field may be at most ${MAX_PAGE}.`];
	const perPage = numberOf(query, "per_page", DEFAULT_PER_PAGE, messages);
	if (Object.keys(messages).length > 0) refuse(messages);
	return { q, seller, page, perPage: Math.min(perPage, MAX_PER_PAGE) };
}

function textOf(query: Query, name: string): string | null {
	const text = query.get(name)?.trim();
	return text === undefined || text === "" ? null : text;
}

function numberOf(query: Query, name: string, absent: number, messages: Messages): number {
	const text = textOf(query, name);
	if (text === null) return absent;
	const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
	if (value >= 1) return value;
	messages[name] = [`The ${name} field must be a whole number of at least 1.`];
	return absent;
}

function isTooLong(text: string): boolean {
	return text.length > MAX_TEXT_LENGTH && [...text.trim()].length > MAX_TEXT_LENGTH;
}

function tooLong(name: string): string {
	return `The ${name} field must have at most ${MAX_TEXT_LENGTH} characters.`;
}

function refuse(messages: Messages): never {
	throw invalidFields(messages);
}
