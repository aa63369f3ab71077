import { describe, expect, test } from "vitest";
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

	test("control characters are taken out", () => {
		expect(readTexts(new Query("clickid=a%00b%0D%0Ac"))).toEqual({ clickid: "abc" });
	});

	test("the country is two letters, in any case", () => {
		expect(readCountry(new Query("cc=us"))).toBe("US");
		expect(readCountry(new Query("cc=%7Bcc%7D"))).toBeNull();
		expect(readCountry(new Query("cc=USA"))).toBeNull();
		expect(readCountry(new Query(""))).toBeNull();
	});
});
