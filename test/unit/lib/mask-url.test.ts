import { describe, expect, it } from "vitest";
import { hideSecretsIn, maskCallbackUrl } from "../../../src/lib/mask-url.ts";

describe("a callback address as it is shown", () => {
	it.each([
		["https://a.example/s2s?token=s3cr3t&sum={payout}&txnid=x", "https://a.example/s2s?token=***&sum={payout}&txnid=x"],
		["https://a.example/hook/0123456789abcdef0123", "https://a.example/hook/***"],
		["https://a.example/bot123456789:AAE-abcDEF_ghi/send", "https://a.example/***/send"],
		["https://a.example/c2VjcmV0LXNlY3JldC0x==/in", "https://a.example/***/in"],
		["https://a.example/c2VjcmV0%2BLXNlY3JldC0x/in", "https://a.example/***/in"],
		["https://a.example/c2VjcmV0LXNlY3JldC0x-{txnid}/in", "https://a.example/***/in"],
		["https://a.example/in;key=c2VjcmV0LXNlY3JldC0x", "https://a.example/***"],
		["https://a.example/in?c2VjcmV0LXNlY3JldC0x==", "https://a.example/in?***"],
		["https://a.example/in?c2VjcmV0LXNlY3JldC0x==&a={id}", "https://a.example/in?***&a={id}"],
		["https://a.example/in#token=s3cr3t", "https://a.example/in#***"],
		["no address", "***"],
	])("%s", (url, shown) => {
		expect(maskCallbackUrl(url)).toBe(shown);
		expect(maskCallbackUrl(shown)).toBe(shown);
	});

	it.each([
		"https://a.example",
		"https://a.example/conversions/{txnid}/{subid1}?cid={cid}&status=1",
		"https://a.example/conversions-of-affiliates/v2?txnid=&cid",
		"https://a.example/{txnid}-{payout}-{subid1}-{subid2}",
		"https://a.example/Zur%C3%BCck-zu-den-Bestellungen/in",
	])("whole: %s", (url) => {
		expect(maskCallbackUrl(url)).toBe(url);
	});
});

describe("unit: what a receiver has answered", () => {
	const url = "https://pub.example/s2s/AbC123dEf456gHi789-{cid}?token=s3cr3t%2Fof-acme&key=k1&sum={payout}&source=network";
	it.each([
		["Cannot GET /s2s/AbC123dEf456gHi789-c1", "Cannot GET /s2s/***c1"],
		["no route for /s2s?token=s3cr3t%2Fof-acme&key=k1&sum=8.4000", "no route for /s2s?token=***&key=k1&sum=8.4000"],
		["bad token s3cr3t/of-acme from network", "bad token *** from network"],
		["no route for /s2s?token=s3cr3t%2fof-acme", "no route for /s2s?token=***"],
		['{"path":"\\/s2s","token":"s3cr3t\\/of-acme"}', '{"path":"\\/s2s","token":"***"}'],
		["stored as s3cr3t/of", "stored as s3cr3t/of"],
		["stored", "stored"],
	])("%j is kept as %j", (answer, kept) => {
		expect(hideSecretsIn(answer, url)).toBe(kept);
	});

	it("of one that is cut off within a secret, nothing of it", () => {
		expect(hideSecretsIn("no route for /s2s?token=s3cr3t%2Fof", url, true)).toBe("no route for /s2s?token=");
		expect(hideSecretsIn("stored as s3c", url, true)).toBe("stored as s3c");
		const named = "https://pub.example/s2s?network=successful-partners&a=b%26c-of-acme";
		expect(hideSecretsIn("success", named)).toBe("success");
		expect(hideSecretsIn("no a=b&amp;c-of-acme", named)).toBe("no a=***");
	});
});
