import { createCipheriv } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	content,
	KEY_LENGTH,
	MAX_CONTENT_LENGTH,
	NONCE_LENGTH,
	open,
	seal,
	TAG_LENGTH,
} from "../../../src/click-token/chacha20-poly1305.ts";

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const cases = { key: bytes(KEY_LENGTH), nonce: bytes(NONCE_LENGTH), text: fc.uint8Array({ maxLength: MAX_CONTENT_LENGTH, size: "max" }) };
type Case = { key: Uint8Array; nonce: Uint8Array; text: Uint8Array };

function sealed({ key, nonce, text }: Case): Uint8Array {
	content.set(text);
	return seal(key, nonce, text.length).slice();
}

function byNode({ key, nonce, text }: Case): Uint8Array {
	const cipher = createCipheriv("chacha20-poly1305", key, nonce, { authTagLength: TAG_LENGTH });
	return new Uint8Array(Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]));
}

describe("unit: ChaCha20-Poly1305", () => {
	test("is that of RFC 8439, as OpenSSL has it", () => {
		fc.assert(fc.property(fc.record(cases), (given) => void expect(sealed(given)).toEqual(byNode(given))));
	});

	test("of every length that a block or less is filled with", () => {
		const [key, nonce] = [new Uint8Array(KEY_LENGTH).fill(7), new Uint8Array(NONCE_LENGTH).fill(9)];
		for (let length = 0; length <= 260; length++) {
			const given = { key, nonce, text: Uint8Array.from({ length }, (_, at) => at * 3) };
			expect(sealed(given), `${length} bytes`).toEqual(byNode(given));
		}
	});

	test("opens what it sealed, whatever was sealed or opened in between", () => {
		fc.assert(
			fc.property(fc.record(cases), fc.record(cases), (first, second) => {
				const [one, other] = [sealed(first), sealed(second)];
				expect(open(first.key, first.nonce, one)).toEqual(first.text);
				expect(open(second.key, second.nonce, other)).toEqual(second.text);
				expect(open(first.key, first.nonce, one)).toEqual(first.text);
			}),
		);
	});

	test("opens nothing that was altered, cut, or is of another key or nonce", () => {
		fc.assert(
			fc.property(fc.record(cases), fc.nat(), fc.integer({ min: 0, max: 7 }), (given, place, bit) => {
				const { key, nonce } = given;
				const made = sealed(given);
				const altered = (of: Uint8Array) => of.with(place % of.length, (of[place % of.length] as number) ^ (1 << bit));
				expect(open(key, nonce, altered(made))).toBeNull();
				expect(open(key, nonce, made.subarray(0, place % made.length))).toBeNull();
				expect(open(altered(key), nonce, made)).toBeNull();
				expect(open(key, altered(nonce), made)).toBeNull();
				expect(open(key, nonce, made)).toEqual(given.text);
			}),
		);
	});

	test("opens nothing that is longer than what can be sealed", () => {
		expect(open(new Uint8Array(KEY_LENGTH), new Uint8Array(NONCE_LENGTH), new Uint8Array(MAX_CONTENT_LENGTH + TAG_LENGTH + 1))).toBeNull();
	});
});
