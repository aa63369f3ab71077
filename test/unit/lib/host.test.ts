import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { canonicalHost, hostAndParents, isWithin } from "../../../src/lib/host.ts";

const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,8}[a-z0-9])?$/).filter((text) => !/^xn--|^\d|^www$|^..--/.test(text));
const domain = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join("."));

describe("unit: canonicalHost", () => {
	test.each([
		["a bare host", "shoes.example"],
		["upper case", "SHOES.Example"],
		["a leading www.", "www.shoes.example"],
		["an upper-case WWW.", "WWW.Shoes.Example"],
		["a trailing dot", "shoes.example."],
		["a port", "shoes.example:8080"],
		["surrounding spaces", "  shoes.example\n"],
		["an http URL", "http://shoes.example"],
		["an https URL with path, query and fragment", "https://shoes.example/a/b?c=d#e"],
		["an upper-case scheme, www, port and trailing dot", "HTTPS://WWW.Shoes.Example.:443/sale"],
		["a bare host with a path", "www.shoes.example/sale?x=http://evil.example"],
		["a scheme-relative URL", "//shoes.example/sale"],
		["a bare host with a query", "shoes.example?utm=1"],
	])("reads shoes.example from %s", (_, input) => {
		expect(canonicalHost(input)).toBe("shoes.example");
	});

	test.each([
		["bücher.example", "xn--bcher-kva.example"],
		["BÜCHER.example", "xn--bcher-kva.example"],
		["https://www.bücher.example/seite", "xn--bcher-kva.example"],
		["bu\u0308cher.example", "xn--bcher-kva.example"],
		["XN--BCHER-KVA.example", "xn--bcher-kva.example"],
		["ｓｈｏｅｓ.example", "shoes.example"],
		["shoes。example", "shoes.example"],
		["例え.テスト", "xn--r8jz45g.xn--zckzah"],
	])("writes the international name %s in punycode", (input, host) => {
		expect(canonicalHost(input)).toBe(host);
	});

	test.each([
		["nothing", ""],
		["spaces", "  "],
		["a single label", "localhost"],
		["a single label behind www.", "www."],
		["an IPv4 address", "192.0.2.1"],
		["an IPv4 address in a URL", "http://192.0.2.1/"],
		["an IPv4 address in hexadecimal", "http://0xC0.0x00.0x02.0x01/"],
		["an IPv6 address", "[2001:db8::1]"],
		["an IPv6 URL", "https://[2001:db8::1]:443/"],
		["another scheme", "ftp://shoes.example/"],
		["an app's address", "android-app://com.shoes.example"],
		["a mail address", "mailto:info@shoes.example"],
		["a script", "javascript:alert(1)"],
		["a space inside", "shoes shop.example"],
		["an empty label", "shoes..example"],
		["a leading dot", ".shoes.example"],
		["a label over 63 characters", `${"a".repeat(64)}.example`],
		["a host over 253 characters", `${"a.".repeat(130)}example`],
		["a NUL", "shoes\u0000.example"],
	])("finds no host in %s", (_, input) => {
		expect(canonicalHost(input)).toBeNull();
	});

	test("reads the host of an address of any length, but no host of such a length", () => {
		const path = "ü ".repeat(100_000);
		for (const start of [
			"https://shoes.example/",
			"HTTP:///www.shoes.example?",
			"//shoes.example#",
			"shoes.example/",
			"a@shoes.example:80/",
		]) {
			expect(canonicalHost(start + path)).toBe("shoes.example");
		}
		for (const start of ["https://", "https:///", "//", "", "shoes.example", "ftp://shoes.example/"])
			expect(canonicalHost(start + path)).toBeNull();
		const parse = vi.spyOn(URL, "parse");
		expect(canonicalHost(`${"ü".repeat(100_000)}.example`)).toBeNull();
		expect(parse).not.toHaveBeenCalled();
	});

	test("takes off one www., and never the name itself", () => {
		expect(canonicalHost("www.example")).toBe("www.example");
		expect(canonicalHost("wwwshoes.example")).toBe("wwwshoes.example");
		expect(canonicalHost("www2.shoes.example")).toBe("www2.shoes.example");
	});

	test("keeps a host that is canonical already", () => {
		fc.assert(fc.property(domain, (host) => canonicalHost(host) === host));
	});

	test("gives every spelling of one host the same form", () => {
		const spelling = fc.record({
			scheme: fc.constantFrom("", "http://", "https://", "HTTPS://", "//"),
			www: fc.constantFrom("", "www.", "WWW."),
			upper: fc.boolean(),
			dot: fc.constantFrom("", "."),
			port: fc.constantFrom("", ":80", ":8443"),
			rest: fc.constantFrom("", "/", "/a/b", "?q=1", "#f", "/a?b=https://other.example/"),
		});
		fc.assert(
			fc.property(domain, spelling, (host, { scheme, www, upper, dot, port, rest }) => {
				const written = `${scheme}${www}${upper ? host.toUpperCase() : host}${dot}${port}${rest}`;
				expect(canonicalHost(written)).toBe(host);
			}),
		);
	});

	test("agrees on a host and on the same host in a URL", () => {
		const word = fc.stringMatching(/^[a-z0-9_.-]{1,20}$/);
		fc.assert(
			fc.property(word, (text) => {
				expect(canonicalHost(`https://${text}/`)).toBe(canonicalHost(text));
			}),
			{ numRuns: 2_000, examples: [["1.2.3.0x4"], ["shoes.0x1"], ["xn--a.example"], ["xn--bcher-kva.example"], ["a_b.example"]] },
		);
	});

	test("never throws, and what it returns is a plain lower-case host of two labels or more", () => {
		fc.assert(
			fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string(), fc.webUrl()), (text) => {
				const host = canonicalHost(text);
				if (host === null) return;
				expect(host).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/);
				expect(host).toBe(new URL(`https://${host}/`).hostname);
			}),
			{ numRuns: 1_000 },
		);
	});
});

describe("unit: hostAndParents", () => {
	test("lists the host and its parents, nearest first, down to two labels", () => {
		expect(hostAndParents("a.b.shop.example")).toEqual(["a.b.shop.example", "b.shop.example", "shop.example"]);
		expect(hostAndParents("shop.example")).toEqual(["shop.example"]);
	});

	test("holds only hosts that contain the host", () => {
		fc.assert(
			fc.property(domain, (host) => {
				const hosts = hostAndParents(host);
				expect(hosts[0]).toBe(host);
				expect(hosts).toHaveLength(host.split(".").length - 1);
				expect(hosts.every((parent) => isWithin(host, parent) && parent.includes("."))).toBe(true);
			}),
		);
	});
});

describe("unit: isWithin", () => {
	test.each([
		["shoes.example", "shoes.example", true],
		["a.shoes.example", "shoes.example", true],
		["a.b.shoes.example", "shoes.example", true],
		["evilshoes.example", "shoes.example", false],
		["shoes.example.evil.example", "shoes.example", false],
		["example", "shoes.example", false],
		["shoes.example", "a.shoes.example", false],
	])("%s within %s: %s", (host, parent, within) => {
		expect(isWithin(host, parent)).toBe(within);
	});
});
