/** Tokens of tracking links: the same at every call, opened with the ring, and never another content's. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LinkTokens } from "../../src/click-token/link-token.ts";
import { ClickTokens } from "../../src/click-token/token.ts";
import { fromBase64Url, toBase64Url } from "../../src/lib/base64-url.ts";

const OLD = "old-secret-0000000000000000000000000";
const NEW = "new-secret-1111111111111111111111111";
const LINK = { publisher: "acme_rtb", advertiserId: 12, domain: "shoes.example", campaignId: 5001 };
const OPENED = {
	...LINK,
	kind: "link",
	bidMicros: 0,
	typoId: 0,
	auctionId: "",
	mintedAt: 0,
	test: false,
	device: null,
	keyword: null,
	askedFrom: null,
	pricingModel: null,
	sharePpm: null,
	grossMicros: null,
	lifeSeconds: null,
	sourceHash: null,
	stripped: false,
	userClickId: false,
	deeplink: false,
};

const links = fc.record({
	publisher: fc.string({ minLength: 1, maxLength: 64 }),
	advertiserId: fc.nat(),
	domain: fc.oneof(fc.domain(), fc.string()),
	campaignId: fc.maxSafeNat(),
});

describe("worker: a tracking link's token", () => {
	it("opens to what it was minted from, and promises no amount", async () => {
		await fc.assert(
			fc.asyncProperty(links, async (link) => {
				expect(await new ClickTokens([NEW]).open(await new LinkTokens([NEW]).mint(link))).toEqual({ ...OPENED, ...link });
			}),
		);
	});

	it("is the same at every call for the same publisher, campaign and key, and else another", async () => {
		const token = await new LinkTokens([NEW]).mint(LINK);
		expect(await new LinkTokens([NEW, OLD]).mint({ ...LINK })).toBe(token);
		const others = await Promise.all([
			new LinkTokens([OLD, NEW]).mint(LINK),
			new LinkTokens([NEW]).mint({ ...LINK, publisher: "acme_rtc" }),
			new LinkTokens([NEW]).mint({ ...LINK, campaignId: 5002 }),
		]);
		const all = [token, ...others].map((text) => (fromBase64Url(text) as Uint8Array).slice(5));
		// Neither tags nor ciphertexts have a part in common: each content is enciphered from a counter of its own.
		expect(new Set(all.map((bytes) => bytes.slice(0, 16).toHex())).size).toBe(4);
		expect(new Set(all.map((bytes) => bytes.slice(16, 32).toHex())).size).toBe(4);
	});

	it("opens with an old key of the ring, and not without it", async () => {
		const token = await new LinkTokens([OLD]).mint(LINK);
		expect(await new ClickTokens([NEW, OLD]).open(token)).toEqual(OPENED);
		expect(await new ClickTokens([NEW]).open(token)).toBeNull();
	});

	it("shows nothing of its content", async () => {
		const bytes = fromBase64Url(await new LinkTokens([NEW]).mint(LINK)) as Uint8Array;
		const text = new TextDecoder("latin1").decode(bytes);
		for (const part of ["acme", "shoes", "5001"]) expect(text).not.toContain(part);
	});

	it("altered in any byte, cut or lengthened, it does not open", async () => {
		const tokens = new ClickTokens([NEW]);
		const bytes = fromBase64Url(await new LinkTokens([NEW]).mint(LINK)) as Uint8Array;
		for (let at = 0; at < bytes.length; at++) {
			const altered = bytes.slice();
			altered[at] = (altered[at] ?? 0) ^ 1;
			expect(await tokens.open(toBase64Url(altered))).toBeNull();
			expect(await tokens.open(toBase64Url(bytes.subarray(0, at)))).toBeNull();
		}
		expect(await tokens.open(toBase64Url(new Uint8Array([...bytes, 0])))).toBeNull();
	});

	it("names the key it is minted with, without telling it", async () => {
		const name = await new LinkTokens([NEW]).fingerprint();
		expect(name).toMatch(/^[0-9a-f]{8}$/);
		expect(await new LinkTokens([OLD]).fingerprint()).not.toBe(name);
	});
});
