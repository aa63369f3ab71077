import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildClickUrl, type ClickParameters } from "../../../src/click-token/click-url.ts";

const NOTHING: ClickParameters = {
	rtuli: "auction",
	clickid: null,
	uid: null,
	dl: null,
	subi: null,
	ip: null,
	pli: null,
	cc: "US",
	test: false,
};

describe("unit: a click URL", () => {
	test("always holds encyp, rtuli and cc, and nothing that was not sent", () => {
		expect(buildClickUrl("https://click.example", "token", NOTHING)).toBe("https://click.example/click?encyp=token&rtuli=auction&cc=US");
	});

	test("holds every parameter of the interface", () => {
		const all = { ...NOTHING, clickid: "c", uid: "u", dl: "https://shoes.example/?a=b&c=d", subi: "s", ip: 16_909_060, pli: 7, test: true };
		expect(buildClickUrl("https://click.example", "token", all)).toBe(
			"https://click.example/click?encyp=token&rtuli=auction&clickid=c&uid=u&dl=https%3A%2F%2Fshoes.example%2F%3Fa%3Db%26c%3Dd&subi=s&ip=16909060&pli=7&cc=US&tsts=1",
		);
	});

	test("holds zeros: an address and a platform id of 0 are values", () => {
		expect(buildClickUrl("https://click.example", "token", { ...NOTHING, ip: 0, pli: 0 })).toContain("&ip=0&pli=0&");
	});

	test("brings any text to the click as it was sent, lone surrogates apart", () => {
		const text = fc.option(fc.string({ unit: "binary" }), { nil: null });
		fc.assert(
			fc.property(text, text, text, text, (clickid, uid, dl, subi) => {
				const url = buildClickUrl("https://click.example", "token", { ...NOTHING, clickid, uid, dl, subi });
				const parameters = new URL(url).searchParams;
				for (const [name, sent] of Object.entries({ clickid, uid, dl, subi }))
					expect(parameters.get(name)).toBe(sent?.toWellFormed() ?? null);
				expect([...parameters.keys()]).toHaveLength(3 + [clickid, uid, dl, subi].filter((value) => value !== null).length);
			}),
		);
	});
});
