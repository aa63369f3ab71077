import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chooseTarget, fillTemplate, readDeeplink } from "../../../src/clicks/choose-target.ts";
import { brand, campaign } from "../../support/auction-parts.ts";

const HASH = "0123456789abcdef0123456789abcdef";
const shoes = brand({ aliases: ["shoes-outlet.example"] });

/** Where a click of the brand's only campaign goes. */
function locationFor(dl: string | null, of = shoes): string | null {
	const target = chooseTarget(of, 1, "US", dl);
	return target === null ? null : fillTemplate(target, HASH);
}

const HOMEPAGE = `https://track.example/c?sub=${HASH}`;
const deeplinkTo = (address: string) => `${HOMEPAGE}&url=${encodeURIComponent(address)}`;

describe("unit: where a click leads", () => {
	test("without dl to the homepage link, with the click hash filled in", () => {
		expect(locationFor(null)).toBe(HOMEPAGE);
	});

	test.each([
		"https://shoes.example/p?a=1&b=2#top",
		"http://shoes.example",
		"https://www.shoes.example/sale",
		"https://a.b.shoes.example:8443/x",
		"https://shoes-outlet.example/x",
		"https://SHOES.EXAMPLE/ümlaut?q={x}",
	])("%j is a page of the brand: the deeplink link, encoded", (dl) => {
		expect(locationFor(dl)).toBe(deeplinkTo(dl));
	});

	test("so is one of 2,048 characters", () => {
		const dl = "https://shoes.example/".padEnd(2_048, "a");
		expect(locationFor(dl)).toBe(deeplinkTo(dl));
	});

	test("an address without a scheme is taken as https", () => {
		expect(locationFor("shoes.example/p")).toBe(deeplinkTo("https://shoes.example/p"));
	});

	test.each([
		["another site", "https://evil.example/"],
		["a lookalike", "https://shoes.example.evil.example/"],
		["a lookalike without a dot", "https://notshoes.example/"],
		["its parent", "https://example/"],
		["relative", "/sale"],
		["relative to the scheme", "//evil.example/"],
		["a path", "sale/today"],
		["a script", "javascript:alert(1)//shoes.example"],
		["data", "data:text/html,shoes.example"],
		["credentials", "https://shoes.example@evil.example/"],
		["credentials of the brand", "https://user:word@shoes.example/"],
		["a backslash", "https://evil.example\\@shoes.example/"],
		["backslashes for slashes", "https:\\\\shoes.example/"],
		["a tab within", "https://shoes.exam\tple/"],
		["a line break before", "\nhttps://shoes.example/"],
		["a line break behind", "https://shoes.example/\r\nSet-Cookie: a=b"],
		["a NUL", "https://shoes.example/\u0000"],
		["a line separator", "https://shoes.example/\u2028"],
		["over 2,048 characters", "https://shoes.example/".padEnd(2_049, "a")],
		["a host in escapes of another", "https://evil%2eexample/"],
		["an address of numbers", "https://127.0.0.1/"],
		["nothing", ""],
		["blanks", "   "],
		["half a surrogate", "\ud800"],
	])("%s: the homepage, never there", (_, dl) => {
		expect(locationFor(dl)).toBe(HOMEPAGE);
	});

	test("a host in other letters is passed on as it was read", () => {
		expect(locationFor("https://ｓhoes.example/p")).toBe(deeplinkTo("https://shoes.example/p"));
	});

	test("property: no dl whatever leaves the hosts of the brand and the platform", () => {
		const hosts = fc.constantFrom(
			"shoes.example",
			"shoes-outlet.example",
			"evil.example",
			"www.shoes.example",
			"shoes.example.evil.example",
		);
		const pieces = fc.array(
			fc.oneof(
				hosts,
				fc.constantFrom(
					"https://",
					"http:",
					"//",
					"/",
					"\\",
					"@",
					":",
					"#",
					"?",
					".",
					"%2e",
					"%00",
					"\t",
					"\n",
					" ",
					"%5c",
					"xn--",
					"。",
					"{deeplink}",
				),
				fc.string({ unit: "binary", maxLength: 5 }),
			),
			{ maxLength: 8 },
		);
		fc.assert(
			fc.property(
				fc.oneof(
					pieces.map((of) => of.join("")),
					fc.webUrl(),
					fc.string({ unit: "binary" }),
				),
				(dl) => {
					const location = locationFor(dl) ?? "";
					expect(location).toMatch(/^[!-~]+$/);
					const url = new URL(location);
					expect(url.host).toBe("track.example");
					expect(url.searchParams.get("sub")).toBe(HASH);
					const page = url.searchParams.get("url");
					if (page === null) return;
					const { hostname, protocol, username, password } = new URL(page);
					expect(protocol).toMatch(/^https?:$/);
					expect(username + password).toBe("");
					expect(hostname.replace(/\.$/, "")).toMatch(/^(?:.*\.)?(?:shoes|shoes-outlet)\.example$/);
				},
			),
			{ numRuns: 2_000 },
		);
	});

	test("a campaign without a deeplink link leads to its homepage", () => {
		expect(locationFor("https://shoes.example/p", brand({ campaigns: [campaign({ deeplinkUrl: null })] }))).toBe(HOMEPAGE);
	});

	test("a campaign with a deeplink link alone leads to the brand's homepage through it", () => {
		const only = brand({ campaigns: [campaign({ homepageUrl: null })] });
		expect(locationFor(null, only)).toBe(deeplinkTo("https://shoes.example/"));
		expect(locationFor("https://evil.example/", only)).toBe(deeplinkTo("https://shoes.example/"));
	});

	test("a campaign that is not active still leads where it led", () => {
		const ended = campaign({ active: false, homepageUrl: "https://ended.example/{click_id}" });
		expect(locationFor(null, brand({ campaigns: [ended] }))).toBe(`https://ended.example/${HASH}`);
	});

	test("a campaign that is gone: another of the brand takes the click, active and of the link's country first", () => {
		const campaigns = [
			campaign({ campaignId: 2, active: false }),
			campaign({ campaignId: 3, country: "GB" }),
			campaign({ campaignId: 4, homepageUrl: null, deeplinkUrl: null }),
			campaign({ campaignId: 6 }),
			campaign({ campaignId: 5 }),
		];
		const taken = (country: string | null, of = campaigns) => chooseTarget(brand({ campaigns: of }), 1, country, null)?.campaign.campaignId;
		expect(taken("US")).toBe(5);
		expect(taken("GB")).toBe(3);
		expect(taken(null)).toBe(3);
		expect(taken("US", campaigns.slice(0, 1))).toBe(2);
		expect(taken("US", [])).toBeUndefined();
	});

	test("every {click_id} and {deeplink} is filled in; what a dollar sign means to replacing is not", () => {
		const template = "https://t.example/{click_id}?a={deeplink}&b={click_id}&c={other}";
		expect(fillTemplate({ template, deeplink: "https://shoes.example/$&$1" }, HASH)).toBe(
			`https://t.example/${HASH}?a=https%3A%2F%2Fshoes.example%2F%24%26%241&b=${HASH}&c={other}`,
		);
	});

	test("a template in other letters becomes a header all the same", () => {
		expect(fillTemplate({ template: "https://träck.example/ж?s={click_id}", deeplink: "" }, HASH)).toBe(
			`https://xn--trck-moa.example/%D0%B6?s=${HASH}`,
		);
	});

	test("the deeplink of a brand's own alias, and of no other brand", () => {
		expect(readDeeplink({ domain: "a.example", aliases: ["b.example"] }, "https://x.b.example/")).toBe("https://x.b.example/");
		expect(readDeeplink({ domain: "a.example", aliases: [] }, "https://x.b.example/")).toBeNull();
	});
});
