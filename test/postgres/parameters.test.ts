/** What PostgreSQL's text cannot hold becomes U+FFFD, and nothing else changes. */
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

describe("postgres: parameters", () => {
	it.each([
		["a NUL", "a\0b", "a\ufffdb"],
		["half a surrogate pair", "a\ud800b", "a\ufffdb"],
		["a whole one", "a\u{1f600}b", "a\u{1f600}b"],
		["a backslash that escapes nothing", "a\\u0000b \\ud800", "a\\u0000b \\ud800"],
	])("of a text: %s", async (_, text, stored) => {
		expect(await env.DB.prepare("SELECT CAST(? AS TEXT) AS text").bind(text).first("text")).toBe(stored);
		const inJson = await env.DB.prepare("SELECT value ->> 'text' AS text FROM json_each(?)")
			.bind(JSON.stringify([{ text }]))
			.first("text");
		expect(inJson).toBe(stored);
	});
});
