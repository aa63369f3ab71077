/** Which addresses may be called for a publisher, in every spelling. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findCallbackUrlFault, replacedCallbackParameters } from "../../../src/lib/callback-url.ts";

const strict = (url: string) => findCallbackUrlFault(url, { allowInsecure: false });
const lenient = (url: string) => findCallbackUrlFault(url, { allowInsecure: true });

describe("unit: callback addresses", () => {
	it.each([
		"https://pub.example/s2s",
		"https://pub.example:8443/s2s?source=network",
		"https://pub.example./s2s",
		"https://münchen.example/",
		"https://localhost.example.com/",
		"https://pub.example/{txnid}?cid={cid}",
		"https://internal.example.com/",
		"https://93.184.216.34/s2s",
		"https://[2606:4700::1111]/s2s",
	])("%s may be called", (url) => {
		expect(strict(url)).toBeNull();
	});

	it("a host may have as many characters as a name in DNS", () => {
		const host = `${"a.".repeat(121)}example.com`;
		expect(strict(`https://${host}/`)).toBeNull();
		expect(strict(`https://a${host}/`)).toBe("must name a public host");
	});

	it.each([
		["http://pub.example/", "must be an https address"],
		["ftp://pub.example/", "must be an https address"],
		["javascript:alert(1)", "must be an https address"],
		["//pub.example/", "must be an absolute address"],
		["", "must be an absolute address"],
		["https://user@pub.example/", "must not hold a user name or password"],
		["https://user:word@pub.example/", "must not hold a user name or password"],
		["https://localhost/", "must name a public host"],
		["https://LOCALHOST:8787/", "must name a public host"],
		["https://localhost./", "must name a public host"],
		["https://a.localhost/", "must name a public host"],
		["https://printer.local/", "must name a public host"],
		["https://printer.local./", "must name a public host"],
		["https://metadata.google.internal/", "must name a public host"],
		["https://router.home.arpa/", "must name a public host"],
		["https://intranet/", "must name a public host"],
		["https://pub.example../", "must name a public host"],
		["https://127.0.0.1/", "must not point at a loopback address"],
		["https://127.0.0.1./", "must not point at a loopback address"],
		["https://127.1/", "must not point at a loopback address"],
		["https://2130706433/", "must not point at a loopback address"],
		["https://0x7f000001/", "must not point at a loopback address"],
		["https://0x7f.0.0.1/", "must not point at a loopback address"],
		["https://0177.0.0.1/", "must not point at a loopback address"],
		["https://１２７.0.0.1/", "must not point at a loopback address"],
		["https://127%2e0.0.1/", "must not point at a loopback address"],
		["https://0.0.0.0/", "must not point at an unspecified address"],
		["https://0/", "must not point at an unspecified address"],
		["https://10.0.0.1/", "must not point at a private address"],
		["https://172.16.0.1/", "must not point at a private address"],
		["https://172.31.255.255/", "must not point at a private address"],
		["https://192.168.1.1/", "must not point at a private address"],
		["https://169.254.169.254/latest/meta-data", "must not point at a link-local address"],
		["https://100.64.0.1/", "must not point at a carrier's internal address"],
		["https://224.0.0.1/", "must not point at a multicast address"],
		["https://255.255.255.255/", "must not point at a broadcast address"],
		["https://192.0.2.1/", "must not point at a reserved address"],
		["https://[::1]/", "must not point at a loopback address"],
		["https://[::]/", "must not point at an unspecified address"],
		["https://[fe80::1]/", "must not point at a link-local address"],
		["https://[fd00:ec2::254]/", "must not point at a private address"],
		["https://[::ffff:127.0.0.1]/", "must not point at a loopback address"],
		["https://[::ffff:7f00:1]/", "must not point at a loopback address"],
		["https://[::ffff:a9fe:a9fe]/", "must not point at a link-local address"],
		["https://[64:ff9b::7f00:1]/", "must not point at a reserved address"],
		["https://[2002:7f00:1::]/", "must not point at a reserved address"],
		["https://[::127.0.0.1]/", "must not point at a reserved address"],
		["https://[fec0::1]/", "must not point at a reserved address"],
	])("%s may not", (url, fault) => {
		expect(strict(url)).toEqual(fault);
	});

	it.each([
		"https://{domain}/",
		"https://{a}.pub.example/",
		"https://pub.example{cid}/",
		"https://%7Bcid%7D.example/",
		"https:{cid}//pub.example",
	])("%s has its host of a macro", (url) => {
		for (const find of [strict, lenient]) expect(find(url)).toBe("must name its host itself: a macro there is not filled in");
	});

	it("with insecure ones allowed: http and any host, but still no credentials and no other scheme", () => {
		expect(lenient("http://127.0.0.1:8831/s2s")).toBeNull();
		expect(lenient("https://localhost/")).toBeNull();
		expect(lenient("http://user@127.0.0.1/")).toBe("must not hold a user name or password");
		expect(lenient("file:///etc/passwd")).toBe("must be an http(s) address");
	});

	it("no private IPv4 address gets through in decimal, hexadecimal, octal or mapped into IPv6", () => {
		const octet = fc.nat(255);
		const address = fc.oneof(
			fc.tuple(fc.constantFrom(10, 127), octet, octet, octet),
			fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
			fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
			fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
		);
		fc.assert(
			fc.property(address, ([a, b, c, d]) => {
				const number = ((a * 256 + b) * 256 + c) * 256 + d;
				const hex = number.toString(16).padStart(8, "0");
				const spellings = [
					`${a}.${b}.${c}.${d}`,
					`${number}`,
					`0x${hex}`,
					`0${number.toString(8)}`,
					`0x${a.toString(16)}.${b}.${(c * 256 + d).toString()}`,
					`0${a.toString(8)}.0${b.toString(8)}.0${c.toString(8)}.0${d.toString(8)}`,
					`[::ffff:${a}.${b}.${c}.${d}]`,
					`[::ffff:${hex.slice(0, 4)}:${hex.slice(4)}]`,
				];
				for (const host of spellings) expect(strict(`https://${host}/s2s`), host).toMatch(/^must not point at/);
			}),
		);
	});

	it("no text at all makes it throw", () => {
		fc.assert(
			fc.property(
				fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()),
				(text) => void [strict(text), lenient(text), replacedCallbackParameters(text)],
			),
		);
	});
});
