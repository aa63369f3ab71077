import { describe, expect, it } from "vitest";
import { sayNone, saySought } from "../../../scripts/operator/say-none.ts";

const FILTERS = ["actor", "subjectKind", "limit", "cursor"] as const;

describe("unit: what is said of an empty list", () => {
	it.each([
		[{}, "There are no changes."],
		[{ limit: "100" }, "There are no changes."],
		[{ actor: "ada", limit: "100" }, 'There are no changes with --actor "ada".'],
		[{ actor: "", subjectKind: "publisher" }, 'There are no changes with --actor "", --subject-kind "publisher".'],
		[{ actor: "ada", cursor: "x" }, 'There are no further changes with --actor "ada".'],
	])("of %j", (given, said) => {
		expect(sayNone("changes", FILTERS, given)).toBe(said);
	});

	it("what was looked for follows a noun, or nothing does", () => {
		expect(`Nobody${saySought(FILTERS, { actor: "ada" })} may.`).toBe('Nobody with --actor "ada" may.');
		expect(`Nobody${saySought(FILTERS, { cursor: "x" })} may.`).toBe("Nobody may.");
	});
});
