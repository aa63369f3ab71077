import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { connectionOf, ipv4ToInteger, networkPrefix, splitConnection } from "../../../src/lib/ip.ts";

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

describe("unit: networkPrefix", () => {
	test.each([
		["203.0.113.7", "203.0.113.0/24"],
		["0.0.0.0", "0.0.0.0/24"],
		["2001:db8:85a3::8a2e:370:7334", "2001:db8:85a3::/48"],
		["2001:0DB8:85A3:0:0:8a2e:0370:7334", "2001:db8:85a3::/48"],
		["2001:db8::1", "2001:db8::/48"],
		["::1", "::/48"],
		["fe80::1:2:3:4", "fe80::/48"],
		["::ffff:203.0.113.7", "203.0.113.0/24"],
		["::ffff:cb00:7107", "203.0.113.0/24"],
	])("%s is in %s", (address, prefix) => {
		expect(networkPrefix(address)).toBe(prefix);
	});

	test.each([
		"",
		"unknown",
		"1.2.3",
		"1.2.3.256",
		":",
		":::",
		"2001:db8::1%eth0",
		"[::1]",
		"::1]/x[",
		"1:2:3:4:5:6:7:8:9",
		"2001:db8::1/64",
	])("%j is no address", (text) => {
		expect(networkPrefix(text)).toBeNull();
	});

	test("property: an address is never kept", () => {
		fc.assert(
			fc.property(fc.ipV6(), (address) => {
				const prefix = networkPrefix(address);
				expect(prefix).toMatch(/(?:::\/48|\.0\/24)$/);
			}),
		);
		fc.assert(fc.property(fc.ipV4(), (address) => networkPrefix(address) === address.replace(/\d+$/, "0/24")));
	});
});

describe("unit: splitConnection", () => {
	const split = (address: string) => splitConnection(connectionOf(address) ?? "");

	test.each([
		["203.0.113.7", "203.0.113.7", ""],
		["::ffff:203.0.113.7", "203.0.113.7", ""],
		["2001:db8:85a3:1::7334", "2001:db8:85a3:0::/56", "01"],
		["2001:db8:85a3:ffff::1", "2001:db8:85a3:ff::/56", "ff"],
		["2001:db8:85a3:1200::1", "2001:db8:85a3:12::/56", "00"],
		["2001:db8::1", "2001:db8:0:0::/56", "00"],
		["2001:db8:0:1::1", "2001:db8:0:0::/56", "01"],
		["2001::1", "2001:0:0:0::/56", "00"],
	])("%s is of %s, there of %j", (address, site, network) => {
		expect(split(address)).toEqual({ site, network });
	});

	test("two addresses are of one site where their first 56 bits are the same, and of one network of it where 64 are", () => {
		const byte = fc.integer({ min: 0, max: 255 });
		const group = fc.integer({ min: 0, max: 0xffff });
		fc.assert(
			fc.property(fc.array(group, { minLength: 3, maxLength: 3 }), byte, byte, byte, byte, (head, left, of, right, other) => {
				const at = (high: number, low: number, end: string) =>
					split(
						`2${[...head, high * 256 + low]
							.map((value) => value.toString(16).padStart(4, "0"))
							.join(":")
							.slice(1)}:${end}`,
					);
				const [one, same, another] = [at(left, of, "1:2:3:4"), at(left, of, "5:6:7:8"), at(right, other, "1:2:3:4")];
				expect(same).toEqual(one);
				expect(another.site === one.site).toBe(left === right);
				expect(another.network === one.network).toBe(of === other);
			}),
		);
	});
});

test("unit: an IPv6 address is read as the URL parser reads it, whichever way it is written, and nothing else is one", () => {
	const group = fc.oneof(fc.stringMatching(/^[0-9a-fA-F]{1,4}$/), fc.constantFrom("0", "0000", "", "12345", "g"));
	const side = fc.array(group, { maxLength: 8 }).map((groups) => groups.join(":"));
	const written = fc.oneof(
		fc.ipV6(),
		side,
		fc.tuple(side, side).map(([left, right]) => `${left}::${right}`),
		fc.stringMatching(/^[0-9a-f:]{2,39}$/),
	);
	fc.assert(
		fc.property(
			written.filter((text) => text.includes(":")),
			(text) => {
				const host = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1) ?? null;
				expect([connectionOf(text), networkPrefix(text)]).toEqual(host === null ? [null, null] : [connectionOf(host), networkPrefix(host)]);
				if (host !== null) expect(connectionOf(text)).not.toBeNull();
			},
		),
		{ numRuns: 2_000 },
	);
});
