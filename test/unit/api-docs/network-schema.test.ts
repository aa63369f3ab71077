import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { writeNetworkSchema } from "../../../src/api-docs/network-schema.ts";

describe("the JSON Schema of the network file", () => {
	it("stands in the repository as it is served (vitest --update writes it)", async () => {
		await expect(`${JSON.stringify(writeNetworkSchema(), null, "\t")}\n`).toMatchFileSnapshot("../../../docs/network.schema.json");
	});

	it("is named by the example, which has only fields that it knows", () => {
		const example = JSON.parse(readFileSync("scripts/examples/network.json", "utf8"));
		const schema = writeNetworkSchema() as { properties: Record<string, { items?: { properties: object } }> };
		expect(example.$schema).toBe("../../docs/network.schema.json");
		for (const [section, entries] of Object.entries(example)) {
			if (!Array.isArray(entries)) continue;
			const known = Object.keys(schema.properties[section]?.items?.properties ?? {});
			for (const entry of entries) expect(known).toEqual(expect.arrayContaining(Object.keys(entry)));
		}
	});
});
