import { describe, expect, it } from "vitest";
import { withoutSecrets } from "../../src/audit/without-secrets.ts";

describe("unit: what of a change is kept", () => {
	it.each<[unknown, unknown]>([
		[
			{ access_key: "chosen-by-hand", name: "Acme" },
			{ access_key: "(secret)", name: "Acme" },
		],
		[
			{ postbackSecret: "s3", postback_secret: null, keys: ["a", null] },
			{ postbackSecret: "(secret)", postback_secret: null, keys: ["(secret)", null] },
		],
		[{ deep: [{ text: "was ak_0123456789abcdefghijklmnopqrstuv012345, now none" }] }, { deep: [{ text: "was (secret), now none" }] }],
		[{ value: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }, { value: "(secret)" }],
		[
			{ keyword: "boots", monkey_business: 1, publisher_identity: "pub_x" },
			{ keyword: "boots", monkey_business: 1, publisher_identity: "pub_x" },
		],
		[
			{ keyword_epc: { whiskey: "0.5000", token: "0.1" }, status_map: { secret: "approved", x: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" } },
			{ keyword_epc: { whiskey: "0.5000", token: "0.1" }, status_map: { secret: "approved", x: "(secret)" } },
		],
		[null, null],
	])("%j", (value, kept) => {
		expect(withoutSecrets(value)).toEqual(kept);
	});
});
