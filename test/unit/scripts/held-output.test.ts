import { describe, expect, test } from "vitest";
import { HeldOutput } from "../../../scripts/checks/held-output.ts";

describe("unit: output of what runs beside something else", () => {
	test("is held back until it is shown, in its order, and passes from then on", () => {
		const shown: string[] = [];
		const held = new HeldOutput((text) => shown.push(text));
		held.write("a");
		held.write("b");
		expect(shown).toEqual([]);
		held.release();
		held.write("c");
		held.release();
		expect(shown).toEqual(["a", "b", "c"]);
	});
});
