import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { offerIdOf } from "../../../src/lib/offer-id.ts";

describe("offerIdOf", () => {
	it("is the MD5 of the domain in lower-case hex", () => {
		fc.assert(
			fc.property(fc.oneof(fc.domain(), fc.string({ maxLength: 200 })), (domain) => {
				expect(offerIdOf(domain)).toBe(createHash("md5").update(domain.toWellFormed(), "utf8").digest("hex"));
			}),
		);
	});
});
