import { describe, expect, test } from "vitest";
import { CLICK_TEXTS } from "../../src/clicks/message.ts";
import { readCountry, readParameter, readTexts } from "../../src/clicks/read-parameters.ts";
import { Query } from "../../src/lib/query.ts";

describe("worker: parameters of a click URL", () => {
	test("are decoded, and kept as they are", () => {
		const query = new Query(
			"clickid=a%20b+c&subi=%2B%26&psorc=p&pcat=q&subid1=1&subid2=2&subid3=3&subid4=4&subid5=5&uid=%F0%9F%98%80&atag=t-20&x=y",
		);
		expect(readTexts(query)).toEqual({
			clickid: "a b c",
			subi: "+&",
			psorc: "p",
			pcat: "q",
			subid1: "1",
			subid2: "2",
			subid3: "3",
			subid4: "4",
			subid5: "5",
			uid: "😀",
			atag: "t-20",
		});
	});

	test("nothing at all is no texts", () => {
		expect(readTexts(new Query("encyp=abc"))).toBeUndefined();
	});

	test.each([
		"",
		"   ",
		"%20",
		"{clickid}",
		"%7Bclickid%7D",
		"%257Bclickid%257D",
		"%affid%",
		"[[[clickid]]]",
		"__CLICK__",
		"%24%7Bclickid%7D",
	])("%j is absent", (raw) => {
		expect(readParameter(new Query(`clickid=${raw}`), "clickid")).toBeNull();
	});

	test("one that is longer than any of ours is absent", () => {
		expect(readParameter(new Query(`clickid=${"a".repeat(2_048)}`), "clickid")).toHaveLength(2_048);
		expect(readParameter(new Query(`clickid=${"a".repeat(2_049)}`), "clickid")).toBeNull();
	});

	test("a value too long to be kept is absent: of 255 characters, a click id of 1,024", () => {
		const [most, more] = ["a".repeat(255), "b".repeat(256)];
		const id = "c".repeat(1_024);
		expect(readTexts(new Query(`clickid=${id}&subi=${most}&psorc=${more}&subid1=${more}`))).toEqual({ clickid: id, subi: most });
		expect(readTexts(new Query(`clickid=${id}d&uid=${more}`))).toBeUndefined();
	});

	test("of all of them 2 KB are kept, in UTF-8 and in their order: what has no room is absent, not cut", () => {
		const id = "c".repeat(1_024);
		const most = "a".repeat(255);
		const query = new Query(`atag=t-20&subid5=end&subid1=${most}&subid2=${most}&psorc=${most}&pcat=${most}&subi=${most}&clickid=${id}`);
		// The source stands in the row twice: 1,024 + 2 × 255 + 2 × 255 bytes, and what four bytes hold.
		expect(readTexts(query)).toEqual({ clickid: id, subi: most, psorc: most, pcat: most, subid5: "end" });
		expect(readTexts(new Query(`subid1=${most}&subid2=${most}&pcat=${most}&psorc=${most}&clickid=${id}`))).toEqual({
			clickid: id,
			psorc: most,
			pcat: most,
			subid1: most,
		});
		expect(readTexts(new Query(`clickid=${"é".repeat(1_024)}&subi=a`))).toEqual({ clickid: "é".repeat(1_024) });
		expect(readTexts(new Query(`clickid=${"€".repeat(1_024)}&subi=a`))).toEqual({ subi: "a" });
	});

	test("of a URL of 15 KB, 2 KB at most reach the message", () => {
		const names = ["clickid", "subi", "psorc", "pcat", "subid1", "subid2", "subid3", "subid4", "subid5", "uid", "atag"];
		const url = names.map((name) => `${name}=${encodeURIComponent("€".repeat(name === "clickid" ? 500 : 102))}`).join("&");
		expect(url.length).toBeGreaterThan(13_000);
		const texts = readTexts(new Query(`${url}&padding=${"x".repeat(15_000 - url.length)}`)) ?? {};
		const bytes = [...Object.values(texts), texts.subi ?? ""].reduce((sum, text) => sum + new TextEncoder().encode(text).byteLength, 0);
		expect(bytes).toBeGreaterThan(1_500);
		expect(bytes).toBeLessThanOrEqual(2_048);
	});

	test("the keyword that priced the bid takes its part of them", () => {
		const [id, most] = ["c".repeat(1_024), "a".repeat(255)];
		const query = new Query(`clickid=${id}&subi=${most}&psorc=${most}&pcat=${most}&subid1=end`);
		// 1,024 + 2 × 255 + 255 + 255 + 3 leave one byte.
		expect(readTexts(query, CLICK_TEXTS, "k")).toEqual({ clickid: id, subi: most, psorc: most, pcat: most, subid1: "end" });
		expect(readTexts(query, CLICK_TEXTS, "é")).toEqual({ clickid: id, subi: most, psorc: most, pcat: most });
		expect(readTexts(query, CLICK_TEXTS, "é".repeat(64))).toEqual({ clickid: id, subi: most, psorc: most, subid1: "end" });
	});

	test("control characters are taken out", () => {
		expect(readTexts(new Query("clickid=a%00b%0D%0Ac"))).toEqual({ clickid: "abc" });
	});

	test("one of nothing else, or of blanks beside them, is absent: then psorc is the source", () => {
		expect(readTexts(new Query("subi=%01%20%7F&psorc=site-7&subid1=%00&uid=a%00b"))).toEqual({ psorc: "site-7", uid: "ab" });
	});

	test("the country is two letters, in any case", () => {
		expect(readCountry(new Query("cc=us"))).toBe("US");
		expect(readCountry(new Query("cc=%7Bcc%7D"))).toBeNull();
		expect(readCountry(new Query("cc=USA"))).toBeNull();
		expect(readCountry(new Query(""))).toBeNull();
	});
});
