/** Where a sign-in may lead: to pages of the console alone. */
import { describe, expect, it } from "vitest";
import { readNext } from "../../../src/console/session/origin.ts";

describe("unit: what a sign-in leads to", () => {
	it.each(["/console", "/console/", "/console/clicks?brand=shoes.example", "/console/operator/clicks"])("%s", (next) => {
		expect(readNext(next)).toBe(next);
	});

	it.each([
		undefined,
		"",
		"/",
		"/docs",
		"//evil.example/console",
		"https://evil.example/console",
		"/consoles",
		"/console.evil.example",
		"/console/../operator/keys",
		"/console/..//evil.example",
		"/console/sign-out",
		"/console/sign-in/link",
	])("never %s", (next) => {
		expect(readNext(next)).toBeNull();
	});
});
