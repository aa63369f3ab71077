import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalHost, hostOfAddress, MAX_URL_LENGTH, readWebAddress, siteUrl, withTrailingSlash } from "../../../src/lib/host.ts";

/** The host that an address counts as being on; undefined where it is no usable address. */
function hostOf(text: string): string | null | undefined {
	const address = readWebAddress(text);
	return address === null ? undefined : hostOfAddress(address);
}

describe("unit: readWebAddress", () => {
	test("a space within is escaped: the address stays one", () => {
		expect(readWebAddress(" https://shoes.example/a b?c=d e ")).toEqual({ url: "https://shoes.example/a%20b?c=d%20e", hadScheme: true });
	});

	test("keeps an http(s) address as it was sent and names its host", () => {
		const url = "HTTPS://www.Shoes.Example:8443/Sale?q=%20a&b=ü#Top";
		expect(readWebAddress(` ${url} `)).toEqual({ url, hadScheme: true });
		expect(hostOf(url)).toBe("shoes.example");
	});

	test("puts https:// before an address without a scheme", () => {
		expect(readWebAddress("shoes.example/sale")).toEqual({ url: "https://shoes.example/sale", hadScheme: false });
		expect(readWebAddress("shoes.example:8080/sale")).toEqual({ url: "https://shoes.example:8080/sale", hadScheme: false });
		expect(hostOf("shoes.example:8080/sale")).toBe("shoes.example");
	});

	test.each([
		["nothing", ""],
		["spaces", "   "],
		["a script", "javascript:alert(1)"],
		["a script in mixed case", "JaVaScRiPt:alert(1)"],
		["data", "data:text/html,<p>"],
		["another scheme", "ftp://shoes.example/"],
		["an app's link", "shoes-app://open/1"],
		["a path", "/sale"],
		["a backslash", "https://shoes.example\\@evil.example/"],
		["a backslash in the path", "https://shoes.example/a\\b"],
		["a line feed", "https://shoes.example/\nSet-Cookie:a"],
		["a tab inside", "https://sho\tes.example/a"],
		["a NUL", "https://shoes.example/\u0000"],
		["a DEL", "https://shoes.example/\u007f"],
		["a placeholder that nobody filled in", "{deeplink}"],
		["one of another form", " %%DEEPLINK_URL%% "],
		["one that was encoded", "%7Bdeeplink%7D"],
		["no host", "https://"],
		["an impossible port", "https://shoes.example:99999/"],
		["text that is no address", "running shoes"],
	])("counts %s as absent", (_, text) => {
		expect(readWebAddress(text)).toBeNull();
	});

	test("trims white space around it, line breaks too", () => {
		expect(readWebAddress("\t https://shoes.example/\r\n")?.url).toBe("https://shoes.example/");
	});

	test(`reads addresses of up to ${MAX_URL_LENGTH} characters, and counts longer ones as absent`, () => {
		const start = "https://shoes.example/";
		const longest = start + "a".repeat(MAX_URL_LENGTH - start.length);
		expect(readWebAddress(longest)?.url).toBe(longest);
		expect(readWebAddress(`${longest}a`)).toBeNull();
	});

	test("names no host where there are credentials, so that it is never the brand's", () => {
		expect(hostOf("https://shoes.example@evil.example/")).toBeNull();
		expect(hostOf("https://user:word@shoes.example/")).toBeNull();
	});

	test("names no host for an address of numbers", () => {
		expect(hostOf("http://192.0.2.1/a")).toBeNull();
		expect(hostOf("http://[2001:db8::1]/a")).toBeNull();
	});

	test("replaces lone surrogates: what it returns can always be percent-encoded", () => {
		expect(readWebAddress("https://shoes.example/\ud800")?.url).toBe("https://shoes.example/\ufffd");
	});

	test("whatever it returns is http(s), parses, and has the host that URL parsers see", () => {
		const text = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.webUrl(),
			fc.webUrl().map((url) => url.replace(/^https?:\/\//, "")),
			fc.domain(),
		);
		fc.assert(
			fc.property(text, (input) => {
				const address = readWebAddress(input);
				if (address === null) return;
				const parsed = new URL(address.url);
				expect(["http:", "https:"]).toContain(parsed.protocol);
				expect(() => encodeURIComponent(address.url)).not.toThrow();
				const host = hostOfAddress(address);
				if (host !== null) expect(host).toBe(canonicalHost(parsed.hostname));
			}),
			{ numRuns: 1_000 },
		);
	});
});

describe("unit: the address of a site", () => {
	test("siteUrl puts https:// before a domain and a slash behind", () => {
		expect(siteUrl("shoes.example")).toBe("https://shoes.example/");
	});

	test.each([
		["https://shoes.example", "https://shoes.example/"],
		["https://shoes.example/", "https://shoes.example/"],
		["https://shoes.example/sale", "https://shoes.example/sale/"],
		["https://shoes.example/sale/", "https://shoes.example/sale/"],
		["https://shoes.example/sale?a=1", "https://shoes.example/sale/?a=1"],
		["https://shoes.example/sale/?a=/b", "https://shoes.example/sale/?a=/b"],
		["https://shoes.example#top", "https://shoes.example/#top"],
		["https://shoes.example/a#b?c", "https://shoes.example/a/#b?c"],
	])("withTrailingSlash(%s) is %s", (url, expected) => {
		expect(withTrailingSlash(url)).toBe(expected);
		expect(withTrailingSlash(expected)).toBe(expected);
	});
});
