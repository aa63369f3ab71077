import { describe, expect, it } from "vitest";
import { unescapeText } from "../../../../src/operator/feeds/unescape-text.ts";

describe("unit: entities in texts of feeds", () => {
	it.each([
		["Men&#39;s coats &amp; hats", "Men's coats & hats"],
		["12&quot; &#x201C;LP&#X201d;, &lt;3", '12" “LP”, <3'],
		["&#128512;&AMP;&apos;", "😀&'"],
		["&amp;amp; is read once", "&amp; is read once"],
		["R&D, AT&T; &copy; &nbsp; &", "R&D, AT&T; &copy; &nbsp; &"],
		["&#0; &#32; &#160; &#xd800; &#x110000; &#9999999;", "&#0; &#32; &#160; &#xd800; &#x110000; &#9999999;"],
		["<b>Shoes</b>", "<b>Shoes</b>"],
	])("%s", (text, read) => {
		expect(unescapeText(text)).toBe(read);
	});
});
