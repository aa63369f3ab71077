import { describe, expect, it } from "vitest";
import { Difference } from "../../../src/operator/network/difference.ts";

const losses = (difference: Difference) => difference.answer().losses.map(({ section, id, field }) => `${section} ${id} ${field}`);

describe("what an import loses is listed by how grave it is", () => {
	it("a campaign that is removed, and a platform that loses its secret, are not hidden behind a hundred texts", () => {
		const difference = new Difference();
		for (let n = 0; n < 150; n++) difference.compare("brands", `b${n}.example`, { category: "Shoes" }, { category: null });
		for (let n = 0; n < 3; n++) difference.remove("campaigns", String(n), { epc: `0.${n}000` }, "b.example");
		difference.compare("platforms", "west", { postback_secret: "a", name: "West" }, { postback_secret: null, name: "West" });
		expect(losses(difference).slice(0, 5)).toEqual([
			"platforms west postback_secret",
			"campaigns 2 null",
			"campaigns 1 null",
			"campaigns 0 null",
			"brands b0.example category",
		]);
		expect(losses(difference)).toHaveLength(100);
		expect(losses(difference).at(-1)).toBe("brands b95.example category");
		expect(difference.answer().loss_count).toBe(154);
	});

	it("of campaigns those with the highest price, wherever it stands, and what is as grave as it came", () => {
		const difference = new Difference();
		const off = (id: string, prices: object) =>
			difference.compare("campaigns", id, { active: true, ...prices }, { active: false, ...prices }, "b.example");
		off("1", {});
		off("2", { epc: "0.5000" });
		off("3", { epc: null, default_keyword_epc: "0.7000" });
		off("4", { epc: "0.1000", keyword_epc: { shoes: "2.0000", hats: "0.1000" } });
		off("5", { epc: "0.5000" });
		expect(losses(difference)).toEqual(["4", "3", "2", "5", "1"].map((id) => `campaigns ${id} active`));
	});

	it("tells the loss whole, and no secret", () => {
		const difference = new Difference();
		difference.compare("platforms", "west", { postback_secret: "a" }, { postback_secret: null });
		expect(difference.answer().losses).toEqual([
			{ section: "platforms", id: "west", field: "postback_secret", before: "(set)", after: null },
		]);
	});
});
