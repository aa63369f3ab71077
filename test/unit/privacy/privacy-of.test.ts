/** The rules by which a request's signals say no, and what a publisher's policy makes of it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PRIVACY_POLICIES } from "../../../src/lib/enums.ts";
import { Query } from "../../../src/lib/query.ts";
import { readPrivacy } from "../../../src/openrtb/read-privacy.ts";
import { object } from "../../../src/openrtb/read-values.ts";
import { privacyOf, refusalOf } from "../../../src/privacy/privacy-of.ts";
import { readQuerySignals } from "../../../src/privacy/query-signals.ts";
import { ALLOWING, gppString, tcString } from "../../support/consents.ts";

const REFUSING = tcString({ purposes: [1, 2, 3, 4] });
const OPTED_OUT = gppString({ usnat: { SaleOptOut: 1 } });
const OPTED_IN = gppString({ usnat: { SaleOptOut: 2, TargetedAdvertisingOptOut: 2 } });
const WITH_TCF = (purposes: number[]) =>
	gppString({ tcfeuv2: { PurposeConsents: Array.from({ length: 24 }, (_, at) => purposes.includes(at + 1)) } });

type Body = { regs?: unknown; device?: unknown; user?: unknown };

const signalsIn = (body: Body) => readPrivacy(body, object(body.device), object(body.user));

function refusalIn(body: Body, vendorId: number | null = null): string | null {
	const signals = signalsIn(body);
	return signals === null ? null : refusalOf(signals, vendorId);
}

function refusalAt(search: string, gpc: string | null = null): string | null {
	const signals = readQuerySignals(new Query(search), gpc);
	return signals === null ? null : refusalOf(signals, null);
}

describe("unit: privacy signals", () => {
	it("say nothing where there are none, and none that object", () => {
		for (const body of [
			{},
			{ regs: null },
			{ regs: {} },
			{ regs: "" },
			{ regs: " " },
			{ regs: { ext: "" } },
			{ device: null, user: null },
			{ device: "", user: " " },
			{ device: {}, user: { ext: "" } },
			{ user: { ext: null, consent: "" } },
			{ device: { lmt: null, dnt: "" } },
			{ user: { ext: { eids: [] } } },
		])
			expect(signalsIn(body), JSON.stringify(body)).toBeNull();
		for (const body of [
			{ regs: { coppa: 0 } },
			{ regs: { coppa: 0, gdpr: 0, us_privacy: "1YNN" }, device: { lmt: 0, dnt: 0 } },
			{ regs: { ext: { gdpr: 0 } }, user: { ext: { consent: REFUSING } } },
			{ regs: { gdpr: 1 }, user: { consent: ALLOWING } },
			{ regs: { gpp: OPTED_IN, gpp_sid: [7] } },
			{ regs: { gpp: OPTED_OUT, gpp_sid: [-1] } },
			{ regs: { gpp: "DBAA" } },
			{ user: { consent: ALLOWING } },
		])
			expect(refusalIn(body), JSON.stringify(body)).toBeNull();
	});

	it.each<[string, string, Body]>([
		["a child", "coppa", { regs: { coppa: 1 } }],
		["a child, as a text", "coppa", { regs: { coppa: "1" } }],
		["limited ad tracking", "limited", { device: { lmt: 1 } }],
		["Do Not Track", "limited", { device: { dnt: 1, lmt: 0 } }],
		["Global Privacy Control", "limited", { regs: { ext: { gpc: "1" } } }],
		["US Privacy, 2.6", "us_privacy", { regs: { us_privacy: "1YYN" } }],
		["US Privacy, 2.5", "us_privacy", { regs: { ext: { us_privacy: "1YYN" } } }],
		["US Privacy, in one of both", "us_privacy", { regs: { us_privacy: "1YNN", ext: { us_privacy: "1YYN" } } }],
		["US Privacy, malformed", "us_privacy", { regs: { us_privacy: "yes" } }],
		["GPP, 2.6", "gpp", { regs: { gpp: OPTED_OUT, gpp_sid: [7] } }],
		["GPP, 2.5, no section named", "gpp", { regs: { ext: { gpp: OPTED_OUT } } }],
		["GPP, a section that is not there", "gpp", { regs: { gpp: OPTED_IN, gpp_sid: [8] } }],
		["GPP, a section that nobody knows", "gpp", { regs: { gpp: OPTED_IN, gpp_sid: [7, 99] } }],
		["GPP, a section without a string", "gpp", { regs: { gpp_sid: [7] } }],
		["GPP, malformed", "gpp", { regs: { gpp: "DBABLA~", gpp_sid: [-1] } }],
		["GDPR without a consent", "gdpr", { regs: { gdpr: 1 } }],
		["GDPR, 2.5, refused", "gdpr", { regs: { ext: { gdpr: 1 } }, user: { ext: { consent: REFUSING } } }],
		["GDPR, 2.6, refused", "gdpr", { regs: { gdpr: 1 }, user: { consent: REFUSING } }],
		["GDPR in one of both places", "gdpr", { regs: { gdpr: 0, ext: { gdpr: 1 } }, user: { consent: REFUSING } }],
		["two consents that contradict each other", "gdpr", { regs: { gdpr: 1 }, user: { consent: ALLOWING, ext: { consent: REFUSING } } }],
		["a refused consent, and nobody says whether the GDPR applies", "gdpr", { user: { consent: REFUSING } }],
		["a malformed consent where the GDPR does not apply", "gdpr", { regs: { gdpr: 0 }, user: { consent: "COnsent" } }],
		["GDPR by GPP", "gdpr", { regs: { gdpr: 0, gpp: WITH_TCF([1, 2]), gpp_sid: [2] } }],
		["a consent of 100 KB", "gdpr", { regs: { gdpr: 1 }, user: { consent: "C".repeat(100_000) } }],
		["a lone surrogate", "gdpr", { regs: { gdpr: 1 }, user: { consent: "\ud800" } }],
	])("refuse: %s", (_, rule, body) => {
		expect(refusalIn(body)).toBe(rule);
	});

	it("are for the stricter meaning where they cannot be read", () => {
		const wrong = [2, -1, 1.5, "maybe", [], [1], {}, { gdpr: 0 }, [[[]]]];
		const flags: ((value: unknown) => Body)[] = [
			(value) => ({ regs: { coppa: value } }),
			(value) => ({ regs: { gdpr: value } }),
			(value) => ({ regs: { ext: { gdpr: value } } }),
			(value) => ({ device: { lmt: value } }),
			(value) => ({ device: { dnt: value } }),
		];
		for (const body of flags) for (const value of wrong) expect(refusalIn(body(value)), JSON.stringify(body(value))).toBe("unreadable");
		for (const value of [1, true, [], {}, ["1YNN"]]) {
			for (const body of [
				{ regs: { us_privacy: value } },
				{ regs: { gpp: value } },
				{ user: { consent: value } },
				{ user: { ext: { consent: value } } },
			])
				expect(refusalIn(body), JSON.stringify(body)).toBe("unreadable");
		}
		for (const value of [true, {}, "x", [{}], [1.5], [-2], [70_000], Array(65).fill(7), [["7"]]])
			expect(refusalIn({ regs: { gpp_sid: value } }), JSON.stringify(value)).toBe("unreadable");
		for (const regs of [[], "coppa", 1, true, [[{}]], { ext: "gdpr" }, { ext: [] }]) expect(refusalIn({ regs })).toBe("unreadable");
		for (const value of ['{"lmt":1,"consent":"no"}', [[{}]], [{ lmt: 0, consent: ALLOWING, coppa: 0 }]]) {
			for (const body of [
				{ regs: value },
				{ regs: { ext: value } },
				{ device: value },
				{ user: value },
				{ user: { ext: value } },
				{ regs: { coppa: 0 }, device: { lmt: 0 }, user: value },
				{ device: value, user: { consent: ALLOWING } },
			])
				expect(refusalIn(body), JSON.stringify(body)).toBe("unreadable");
		}
		// Nothing could be in these.
		for (const value of [[], "phone", 0, 1, true, false]) {
			for (const body of [{ device: value }, { user: value }, { user: { ext: value } }, { device: value, user: { consent: ALLOWING } }])
				expect(refusalIn(body), JSON.stringify(body)).toBeNull();
		}
	});

	it("of GPP and of the GDPR are one where both are sent", () => {
		expect(refusalIn({ regs: { gpp: WITH_TCF([1, 2, 7]), gpp_sid: [2] } })).toBeNull();
		expect(refusalIn({ regs: { gdpr: 1, gpp: WITH_TCF([1, 2, 7]), gpp_sid: "2" } })).toBeNull();
		expect(refusalIn({ regs: { gpp_sid: [2] }, user: { consent: ALLOWING } })).toBeNull();
		expect(refusalIn({ regs: { gpp_sid: [6], us_privacy: "1YNN" } })).toBeNull();
		expect(refusalIn({ regs: { gdpr: 1, gpp: WITH_TCF([1, 2, 7]), gpp_sid: [-1] } })).toBe("gdpr");
	});

	it("ask for the operator's vendor where it has one", () => {
		const body = { regs: { gdpr: 1 }, user: { consent: ALLOWING } };
		expect([refusalIn(body, 42), refusalIn(body, 43), refusalIn(body, null)]).toEqual([null, "gdpr", null]);
	});

	it("of a click are read under the names of IAB's macros, all of a repeated one", () => {
		expect(refusalAt("encyp=x&cc=US")).toBeNull();
		expect(refusalAt("encyp=x", "1")).toBe("limited");
		expect(refusalAt("encyp=x", "0")).toBeNull();
		expect(refusalAt("us_privacy=1YYN")).toBe("us_privacy");
		expect(refusalAt("us_privacy=1YNN&us_privacy=1YYN")).toBe("us_privacy");
		expect(refusalAt("gdpr=0&gdpr=1")).toBe("gdpr");
		expect(refusalAt(`gdpr=1&gdpr_consent=${ALLOWING}`)).toBeNull();
		expect(refusalAt(`gdpr=1&gdpr_consent=${ALLOWING}`, "1")).toBe("limited");
		expect(refusalAt(`%67dpr=1&gdpr_consent=${REFUSING}`)).toBe("gdpr");
		expect(refusalAt(`gpp=${encodeURIComponent(OPTED_OUT)}&gpp_sid=7`)).toBe("gpp");
		expect(refusalAt(`gpp=${encodeURIComponent(OPTED_IN)}&gpp_sid=7%2C8`)).toBe("gpp");
		expect(refusalAt("coppa=1")).toBe("coppa");
		expect(refusalAt("lmt=yes")).toBe("unreadable");
		expect(refusalAt(Array.from({ length: 90 }, (_, at) => `gdpr_consent=${ALLOWING}${at}`).join("&"))).toBe("unreadable");
	});

	it("of a query with more parameters than are read refuse, since there may be some behind", () => {
		const others = (count: number) => Array.from({ length: count }, () => "x=1").join("&");
		expect(refusalAt(others(100))).toBeNull();
		expect(refusalAt(`${others(99)}&coppa=0`)).toBeNull();
		expect(refusalAt(`${others(100)}&`)).toBeNull();
		expect(refusalAt(`${others(100)}&coppa=1`)).toBe("unreadable");
		expect(refusalAt(`coppa=0&${others(100)}`)).toBe("unreadable");
	});

	it("of the header Sec-GPC refuse by anything but blanks and 0, also where it is sent twice", () => {
		for (const gpc of ["1", " 1 ", "1, 1", "0, 1", "1,0", "?1", "true", "yes", "01", "10", "00", "-", ",1", "\u{661}"]) {
			expect(refusalAt("encyp=x", gpc), gpc).toBe("limited");
			expect(refusalAt("encyp=x&coppa=0&lmt=0", gpc), gpc).toBe("limited");
		}
		for (const gpc of [null, "", " ", "0", " 0 ", "0, 0", "0,0,", ",", " , "]) {
			expect(readQuerySignals(new Query("encyp=x"), gpc), String(gpc)).toBeNull();
			expect(refusalAt("encyp=x&coppa=0", gpc), String(gpc)).toBeNull();
		}
	});

	it("that nobody filled in say nothing, but a consent is not there then", () => {
		expect(refusalAt("gdpr={{gdpr}}&gdpr_consent=[gdpr_consent]&us_privacy={us_privacy}")).toBeNull();
		expect(refusalAt("gdpr=1&gdpr_consent=%24%7BGDPR_CONSENT_42%7D")).toBe("gdpr");
	});

	it("are answered as the publisher's policy says, only where one says no", () => {
		for (const policy of PRIVACY_POLICIES) {
			expect(privacyOf(null, policy, null)).toBe("as_sent");
			expect(privacyOf(signalsIn({ regs: { coppa: 0 } }), policy, null)).toBe("as_sent");
			expect(privacyOf(signalsIn({ regs: { coppa: 1 } }), policy, null)).toBe(policy);
		}
	});

	it("never throw, whatever is sent, and another signal never makes them milder", () => {
		const anything = fc.oneof(
			fc.anything(),
			fc.constantFrom(0, 1, "0", "1", ALLOWING, REFUSING, OPTED_IN, OPTED_OUT, "1YNN", "1YYN", "1---"),
			fc.string({ unit: "binary" }),
		);
		const part = (names: string[]) => fc.dictionary(fc.constantFrom(...names), anything);
		const regs = part(["coppa", "gdpr", "us_privacy", "gpp", "gpp_sid", "gpc", "ext"]);
		fc.assert(
			fc.property(fc.oneof(anything, regs), part(["lmt", "dnt"]), fc.oneof(anything, part(["consent", "ext"])), (sent, device, user) => {
				refusalIn({ regs: sent, device, user });
				refusalIn({ regs: sent, device: user, user: device });
				expect(refusalIn({ regs: sent, device: { ...device, lmt: 1 }, user })).not.toBeNull();
			}),
			{ numRuns: 150 },
		);
	});
});
