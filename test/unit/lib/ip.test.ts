import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ipv4ToInteger } from "../../../src/lib/ip.ts";

describe("unit: ipv4ToInteger", () => {
	test.each([
		["0.0.0.0", 0],
		["1.2.3.4", 16_909_060],
		["203.0.113.7", 3_405_803_783],
		["127.255.255.255", 2_147_483_647],
		["128.0.0.0", 2_147_483_648],
		["255.255.255.255", 4_294_967_295],
	])("reads %s as the unsigned integer %d", (text, value) => {
		expect(ipv4ToInteger(text)).toBe(value);
	});

	test.each([
		"",
		"1.2.3",
		"1.2.3.4.5",
		"1.2.3.256",
		"1.2.3.-4",
		"1.2.3.04",
		"01.2.3.4",
		"1.2.3.0x4",
		"1.2.3.4 ",
		" 1.2.3.4",
		"1.2.3.4/24",
		"1.2.3.4:80",
		"1..3.4",
		"1.2.3.",
		"16909060",
		"::1",
		"::ffff:1.2.3.4",
		"2001:db8::1",
		"١.2.3.4",
		"1.2.3.1e1",
	])("takes %j for no IPv4 address", (text) => {
		expect(ipv4ToInteger(text)).toBeNull();
	});

	test("gives each address its own integer, the four octets in order", () => {
		fc.assert(
			fc.property(fc.ipV4(), (text) => {
				const value = ipv4ToInteger(text);
				if (value === null) throw new Error(`${text} was not read`);
				expect([24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".")).toBe(text);
			}),
		);
	});

	test("reads nothing else, and never throws", () => {
		fc.assert(
			fc.property(fc.oneof(fc.ipV6(), fc.string({ unit: "binary" }), fc.stringMatching(/^[0-9.]{0,16}$/)), (text) => {
				const value = ipv4ToInteger(text);
				const octets = text.split(".");
				const isAddress =
					octets.length === 4 && octets.every((octet) => /^\d+$/.test(octet) && String(Number(octet)) === octet && Number(octet) < 256);
				expect(value !== null).toBe(isAddress);
			}),
		);
	});
});
