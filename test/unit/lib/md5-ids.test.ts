import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clickHashOf, offerIdOf } from "../../../src/lib/md5-ids.ts";

const md5 = (text: string) => createHash("md5").update(text, "utf8").digest("hex");

describe("offerIdOf", () => {
	it("is the MD5 of the domain in lower-case hex", () => {
		fc.assert(
			fc.property(fc.oneof(fc.domain(), fc.string({ maxLength: 200 })), (domain) => {
				expect(offerIdOf(domain)).toBe(md5(domain.toWellFormed()));
			}),
		);
	});
});

describe("clickHashOf", () => {
	it("is the MD5 of an id, as 32 hex characters", () => {
		expect(clickHashOf("9fe61818-4c11-4ff4-93d5-c8d84faf9cb0")).toBe(md5("9fe61818-4c11-4ff4-93d5-c8d84faf9cb0"));
	});

	it("property: of any id, and of any other text", () => {
		fc.assert(fc.property(fc.uuid(), (id) => clickHashOf(id) === md5(id)));
		fc.assert(fc.property(fc.string({ unit: "binary-ascii", maxLength: 130 }), (text) => clickHashOf(text) === md5(text)));
		fc.assert(fc.property(fc.string({ unit: "binary-ascii", maxLength: 70 }), (text) => clickHashOf(text) === md5(text)));
	});
});
