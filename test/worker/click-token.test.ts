import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LinkTokens } from "../../src/click-token/link-token.ts";
import { ClickTokens, TOKEN_VERSIONS } from "../../src/click-token/token.ts";
import type { ClickToken } from "../../src/click-token/token-content.ts";
import { fromBase64Url, toBase64Url } from "../../src/lib/base64-url.ts";
import { PRICING_MODELS } from "../../src/lib/enums.ts";
import { hashSource } from "../../src/lib/hash.ts";

const OLD = "old-secret-0000000000000000000000000";
const NEW = "new-secret-1111111111111111111111111";
const CONTENT: ClickToken = {
	kind: "openrtb",
	publisher: "acme_rtb",
	advertiserId: 12,
	domain: "shoes.example",
	campaignId: 5001,
	bidMicros: 336_000,
	typoId: 0,
	auctionId: "6a2f41a3-c54c-4ae0-8a4e-0c1f6c7d1f00",
	mintedAt: 1_795_000_000_000,
	test: false,
	device: 0xffff_ffff,
	keyword: "running shoes",
	askedFrom: "203.0.113.0/24",
	lifeSeconds: null,
	sourceHash: "kT3x0",
	pricingModel: "CPC",
	sharePpm: 800_000,
	grossMicros: 420_000,
	stripped: false,
	userClickId: false,
	deeplink: false,
};
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** The parts of a token's bytes, as the token's contract lays them out. */
const PARTS = {
	version: [0, 1],
	fingerprint: [1, 5],
	salt: [5, 17],
	counter: [17, 21],
	ciphertext: [21, -16],
	tag: [-16, undefined],
} as const;

function bytesOf(token: string): Uint8Array {
	const bytes = fromBase64Url(token);
	if (bytes === null) throw new Error("not base64url");
	return bytes;
}

describe.each(TOKEN_VERSIONS)("worker: a minted token, version %i", (version) => {
	test("opens to what it was minted from", async () => {
		const tokens = new ClickTokens([NEW], version);
		for (const kind of ["openrtb", "serving-engine", "link"] as const) {
			for (const content of [CONTENT, { ...CONTENT, test: true, bidMicros: 0, sourceHash: null }, { ...CONTENT, sourceHash: "" }]) {
				const token = await tokens.mint({ ...content, kind });
				expect(await tokens.open(token)).toEqual({ ...content, kind });
			}
		}
	});

	test("opens among others that are opened at the same time, whose keys are known or not", async () => {
		const minters = [new ClickTokens([NEW], version), new ClickTokens([NEW], version), new ClickTokens([OLD], version)];
		const contents = Array.from({ length: 60 }, (_, at): ClickToken => ({ ...CONTENT, campaignId: at, keyword: "k".repeat(at) }));
		const minted = await Promise.all(contents.map((content, at) => (minters[at % 3] as ClickTokens).mint(content)));
		const link = await new LinkTokens([OLD]).mint({ publisher: "acme_rtb", advertiserId: 12, domain: "shoes.example", campaignId: 1 });
		const tokens = new ClickTokens([NEW, OLD], version);
		for (let round = 0; round < 2; round++) {
			const opened = minted.map((token, at) => (at % 5 === 0 ? [tokens.open(token), tokens.open(link)] : [tokens.open(token)]));
			const first = await Promise.all(opened.map(([open]) => open));
			expect(first).toEqual(contents);
			for (const [, open] of opened) expect(open === undefined || (await open)?.kind === "link").toBe(true);
		}
	});

	test("opens in another isolate with the same ring", async () => {
		expect(await new ClickTokens([NEW], version).open(await new ClickTokens([NEW], version).mint(CONTENT))).toEqual(CONTENT);
	});

	test("needs no escaping in a URL and shows nothing of its content", async () => {
		const token = await new ClickTokens([NEW], version).mint(CONTENT);
		expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
		expect(token.length).toBeLessThan(300);
		const raw = String.fromCharCode(...bytesOf(token));
		for (const secret of ["acme_rtb", "shoes.example", "336000", NEW]) expect(raw).not.toContain(secret);
	});

	test("of an earlier version opens, and says nothing of what that version did not know", async () => {
		const token =
			"AY8g48M8Heyf7GX9X_tiE4R9AAAAvqCtBBvTlJqPw0slSJ9GdqbhH3WV9uNpDWcIZCKc1OaMdhm-j6Ynjjksa10QmRkUfoJSEMQec80osssBsDnyUvmJlhxaaQihMV_crV9Q2PYDsImwrVZRLBkSxY9i0qGWMkl0aboJ5v5gsKIpundt7wcZlLa27pkFBBPXR5oRVb5fv600qK8T-H3CsGlN1KgLiY0XxoN28JIMf0vttrh6dKNc";
		const unknown = { pricingModel: null, sharePpm: null, grossMicros: null, sourceHash: null };
		expect(await new ClickTokens([NEW], version).open(token)).toEqual({ ...CONTENT, ...unknown });
	});

	test("grows by less than a twentieth for the source that the bid was asked for", async () => {
		const tokens = new ClickTokens([NEW], version);
		const content = { ...CONTENT, keyword: null, askedFrom: null, device: null };
		const without = (await tokens.mint({ ...content, sourceHash: null })).length;
		const lengths = [null, "", "top", "a-very-long-name-of-a-place/".repeat(70)].map(
			async (source) => (await tokens.mint({ ...content, sourceHash: hashSource(source) })).length,
		);
		expect(Math.max(...(await Promise.all(lengths)))).toBeLessThanOrEqual(without * 1.05);
	});

	test("carries any text and any number whole", async () => {
		const tokens = new ClickTokens([NEW], version);
		const content = fc.record({
			publisher: fc.string({ unit: "grapheme", maxLength: 64 }),
			advertiserId: fc.maxSafeNat(),
			domain: fc.domain(),
			campaignId: fc.maxSafeNat(),
			bidMicros: fc.nat({ max: 1_000_000_000 }),
			auctionId: fc.uuid(),
			mintedAt: fc.nat(),
			test: fc.boolean(),
			device: fc.option(fc.nat({ max: 0xffff_ffff })),
			keyword: fc.option(fc.string({ unit: "grapheme", maxLength: 64 })),
			askedFrom: fc.option(fc.ipV4()),
			pricingModel: fc.constantFrom(null, ...PRICING_MODELS),
			sharePpm: fc.option(fc.nat({ max: 1_000_000 })),
			grossMicros: fc.option(fc.nat({ max: 1_000_000_000 })),
			stripped: fc.boolean(),
			userClickId: fc.boolean(),
			deeplink: fc.boolean(),
			lifeSeconds: fc.option(fc.nat({ max: 1_000_000 })),
			source: fc.option(fc.string({ unit: "grapheme", maxLength: 64 })),
		});
		await fc.assert(
			fc.asyncProperty(content, async ({ source, ...fields }) => {
				const token: ClickToken = { kind: "openrtb", typoId: 0, sourceHash: fields.test ? null : hashSource(source), ...fields };
				// Those of versions that minted no pricing model did not tell pages either.
				token.deeplink = fields.deeplink && fields.pricingModel !== null;
				expect(await tokens.open(await tokens.mint(token))).toEqual(token);
			}),
			{ numRuns: 200 },
		);
	});

	test.each(['"],[', "\u0000\n", "\ud83d\ude00 Ä", "a lone \ud800", "<script>", "x".repeat(64)])(
		"strange text in the publisher breaks nothing: %j",
		async (publisher) => {
			const tokens = new ClickTokens([NEW], version);
			const opened = await tokens.open(await tokens.mint({ ...CONTENT, publisher }));
			expect(opened).toEqual({ ...CONTENT, publisher: publisher.isWellFormed() ? publisher : opened?.publisher });
		},
	);
});

describe.each(TOKEN_VERSIONS)("worker: nonces, version %i", (version) => {
	test("are never used twice under one salt, over many mints at once", async () => {
		const tokens = new ClickTokens([NEW], version);
		const seen = new Set<string>();
		const salts = new Set<string>();
		for (let round = 0; round < 20; round++) {
			const minted = await Promise.all(Array.from({ length: 250 }, () => tokens.mint(CONTENT)));
			for (const token of minted) {
				const bytes = bytesOf(token);
				seen.add(bytes.slice(...PARTS.salt).toHex() + bytes.slice(...PARTS.counter).toHex());
				salts.add(bytes.slice(...PARTS.salt).toHex());
			}
		}
		expect(seen.size).toBe(5_000);
		// Mints that ran while the first key was derived may have derived one each; after that one serves all.
		expect(salts.size).toBeLessThanOrEqual(250);
	});

	test("isolates have salts of their own", async () => {
		const salts = await Promise.all(
			Array.from({ length: 20 }, async () =>
				bytesOf(await new ClickTokens([NEW], version).mint(CONTENT))
					.slice(...PARTS.salt)
					.toHex(),
			),
		);
		expect(new Set(salts).size).toBe(20);
	});

	test("mints at once do not mix their contents", async () => {
		const tokens = new ClickTokens([NEW], version);
		const contents = Array.from({ length: 300 }, (_, i) => ({ ...CONTENT, campaignId: i, publisher: "p".repeat(i % 60) }));
		const minted = await Promise.all(contents.map((content) => tokens.mint(content)));
		expect(await Promise.all(minted.map((token) => tokens.open(token)))).toEqual(contents);
	});

	test("are of another key once one has none left, however many are minted at once", async () => {
		const tokens = new ClickTokens([NEW], version, 4);
		const seen = new Set<string>();
		const salts = new Map<string, number>();
		const mintSome = async (count: number) => {
			for (const token of await Promise.all(Array.from({ length: count }, () => tokens.mint(CONTENT)))) {
				const bytes = bytesOf(token);
				const salt = bytes.slice(5, 18).toHex();
				seen.add(salt + bytes.slice(18, 21).toHex());
				salts.set(salt, (salts.get(salt) ?? 0) + 1);
				expect(await tokens.open(token)).toEqual(CONTENT);
			}
		};
		for (const count of [1, 1, 1, 1, 1, 9, 30]) await mintSome(count);
		expect(seen.size).toBe(44);
		expect(Math.max(...salts.values())).toBe(4);
	});

	test("make every token another, though the content is the same", async () => {
		const tokens = new ClickTokens([NEW], version);
		const minted = new Set<string>();
		for (let i = 0; i < 500; i++) minted.add(await tokens.mint(CONTENT));
		expect(minted.size).toBe(500);
	});
});

describe("worker: a token of version 4", () => {
	// Made by node:crypto alone: hkdfSync for fingerprint and key, chacha20-poly1305 for the content, the counter in the nonce's last bytes.
	const MADE_APART =
		"BI8g48MDDhkkLzpFUFtmcXyHAQL-wuVt8rqjimjcmjAyM1oV-5IqrYTxUuzQnxTIejnTfIx2j8vGxv80NH8NMJi2PNh8U35CzG424wG6NDpYBp2Mj41-Fy9TbQRcmGvCldvUS7k_kI4pw3Bo4V6xnUWdjiTuYx1Gh0IHeAZtodvdPzAcboYcafpiA-s4D382w5HE_bYgoJNyapzCkFEcogZWhSFx3GBrv1h3QwKUEm0dp47_4O_1_WE-cHXEeFB-z26t";

	test("is ChaCha20-Poly1305 of RFC 8439, by a key of HKDF-SHA-256", async () => {
		expect(await new ClickTokens([NEW], 4).open(MADE_APART)).toEqual(CONTENT);
	});

	test("opens at once where a token of the same isolate was opened before", async () => {
		const [minter, tokens] = [new ClickTokens([NEW], 4), new ClickTokens([NEW], 4)];
		const [first, second] = [await minter.mint(CONTENT), await minter.mint({ ...CONTENT, campaignId: 5002 })];
		expect(tokens.open(first)).toBeInstanceOf(Promise);
		expect(await tokens.open(first)).toEqual(CONTENT);
		expect(tokens.open(second)).toEqual({ ...CONTENT, campaignId: 5002 });
	});

	test("does not open as one of version 1, nor that as one of version 4", async () => {
		for (const version of TOKEN_VERSIONS) {
			const tokens = new ClickTokens([NEW], version);
			const bytes = bytesOf(await tokens.mint(CONTENT));
			bytes[0] = version === 1 ? 4 : 1;
			expect(await tokens.open(toBase64Url(bytes))).toBeNull();
		}
	});
});

describe.each(TOKEN_VERSIONS)("worker: a token that was tampered with does not open, version %i", (version) => {
	test.each(Object.entries(PARTS))("in its %s: every bit of it", async (_, [start, end]) => {
		const tokens = new ClickTokens([NEW], version);
		const whole = bytesOf(await tokens.mint(CONTENT));
		const from = start < 0 ? whole.length + start : start;
		const to = end === undefined ? whole.length : end < 0 ? whole.length + end : end;
		for (let at = from; at < to; at++) {
			for (let bit = 0; bit < 8; bit++) {
				const altered = whole.slice();
				altered[at] = (altered[at] ?? 0) ^ (1 << bit);
				expect(await tokens.open(toBase64Url(altered)), `byte ${at}, bit ${bit}`).toBeNull();
			}
		}
	});

	test("in any of its characters", async () => {
		const tokens = new ClickTokens([NEW], version);
		// Three lengths, so that the last character stands for all its bits, or for some of them.
		for (const publisher of ["p", "pu", "pub"]) {
			const token = await tokens.mint({ ...CONTENT, publisher });
			for (let at = 0; at < token.length; at++) {
				const others = at === token.length - 1 ? [...ALPHABET] : ["A", "z", "_"];
				for (const other of others.filter((character) => character !== token[at])) {
					expect(await tokens.open(token.slice(0, at) + other + token.slice(at + 1)), `${other} at ${at} of ${token.length}`).toBeNull();
				}
			}
		}
	});

	test("by cutting, at any length", async () => {
		const tokens = new ClickTokens([NEW], version);
		const token = await tokens.mint(CONTENT);
		for (let length = 0; length < token.length; length++)
			expect(await tokens.open(token.slice(0, length)), `${length} characters`).toBeNull();
		for (let length = 1; length < token.length; length++)
			expect(await tokens.open(token.slice(length)), `without the first ${length}`).toBeNull();
	});

	test("by adding to it", async () => {
		const tokens = new ClickTokens([NEW], version);
		const token = await tokens.mint(CONTENT);
		for (const added of ["A", "AAAA", "=", "==", " ", "%3D", "\n", token]) {
			expect(await tokens.open(token + added), JSON.stringify(added)).toBeNull();
		}
	});

	test("by mixing two", async () => {
		const tokens = new ClickTokens([NEW], version);
		const [cheap, costly] = [bytesOf(await tokens.mint(CONTENT)), bytesOf(await tokens.mint({ ...CONTENT, bidMicros: 999_000 }))];
		expect(await tokens.open(toBase64Url(new Uint8Array([...cheap.slice(0, 21), ...costly.slice(21)])))).toBeNull();
	});

	test("text that is no token is none, and never throws", async () => {
		const tokens = new ClickTokens([NEW], version);
		const texts = fc.oneof(fc.string({ unit: "binary" }), fc.base64String(), fc.stringMatching(/^[A-Za-z0-9_-]{0,300}$/));
		await fc.assert(
			fc.asyncProperty(texts, async (text) => {
				expect(await tokens.open(text)).toBeNull();
			}),
			{ numRuns: 300, examples: [[""], ["A".repeat(100_000)], ["%"], ["AQ"], ["Af///w"]] },
		);
	});
});

describe.each(TOKEN_VERSIONS)("worker: the key ring, version %i", (version) => {
	test("a token of another key does not open", async () => {
		expect(await new ClickTokens([NEW], version).open(await new ClickTokens([OLD], version).mint(CONTENT))).toBeNull();
	});

	test("the newest key mints and an old one still opens, until it leaves the ring", async () => {
		const before = new ClickTokens([OLD], version);
		const during = new ClickTokens([NEW, OLD], version);
		const after = new ClickTokens([NEW], version);
		const old = await before.mint(CONTENT);
		const fresh = await during.mint(CONTENT);
		expect(await during.open(old)).toEqual(CONTENT);
		expect(await during.open(fresh)).toEqual(CONTENT);
		expect(await after.open(fresh)).toEqual(CONTENT);
		expect(await before.open(fresh)).toBeNull();
		expect(await after.open(old)).toBeNull();
	});

	test("its order decides what mints, not what opens", async () => {
		const token = await new ClickTokens([OLD, NEW], version).mint(CONTENT);
		expect(await new ClickTokens([NEW, OLD], version).open(token)).toEqual(CONTENT);
		expect(await new ClickTokens([OLD], version).open(token)).toEqual(CONTENT);
	});

	test("opens tokens of more isolates than it keeps keys for", async () => {
		const tokens = new ClickTokens([NEW], version);
		const minted: string[] = [];
		for (let i = 0; i < 600; i++) minted.push(await new ClickTokens([NEW], version).mint({ ...CONTENT, campaignId: i }));
		for (const [i, token] of [...minted, ...minted].entries()) expect((await tokens.open(token))?.campaignId).toBe(i % 600);
	});

	test("may not be empty", () => {
		expect(() => new ClickTokens([], version)).toThrow(/TOKEN_KEYS/);
	});
});
