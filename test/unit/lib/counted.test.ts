import { expect, test } from "vitest";
import { counted } from "../../../src/lib/counted.ts";

test.each([
	[0, "0 callbacks"],
	[1, "1 callback"],
	[2, "2 callbacks"],
])("so many of something: %i", (count, text) => {
	expect(counted(count, "callback")).toBe(text);
});
