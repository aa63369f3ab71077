/** Sends product feeds to the Worker under test. */
import { exports } from "cloudflare:workers";
import * as v from "valibot";
import { type FeedReport, feedReportSchema } from "../../src/operator/feeds/feed-answer.ts";
import { OPERATOR_HEADERS } from "./network-import.ts";

export function postFeed(
	kind: "products" | "seller-products",
	body: BodyInit,
	query: Record<string, string> | string[][] = {},
	headers: Record<string, string> = OPERATOR_HEADERS,
): Promise<Response> {
	return exports.default.fetch(`https://base.example/operator/${kind}?${new URLSearchParams(query)}`, { method: "POST", headers, body });
}

/** Sends a feed that must be read to its end. */
export async function sendFeed(kind: "products" | "seller-products", body: BodyInit, query?: Record<string, string>): Promise<FeedReport> {
	const response = await postFeed(kind, body, query);
	if (response.status !== 200) throw new Error(`the feed was answered ${response.status}: ${await response.text()}`);
	return v.parse(feedReportSchema, await response.json());
}

export function jsonLines(rows: readonly object[]): string {
	return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

export function csv(names: readonly string[], rows: readonly (readonly string[])[], delimiter = ","): string {
	const write = (text: string) => (/["\r\n\t,;|]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
	return [names, ...rows].map((cells) => `${cells.map(write).join(delimiter)}\r\n`).join("");
}

/** As spreadsheets save a text, here without a byte order mark. */
export function utf16(text: string, isLittleEndian: boolean): Uint8Array<ArrayBuffer> {
	const bytes = new DataView(new ArrayBuffer(2 * text.length));
	for (let at = 0; at < text.length; at++) bytes.setUint16(2 * at, text.charCodeAt(at), isLittleEndian);
	return new Uint8Array(bytes.buffer);
}
