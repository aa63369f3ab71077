/** What our reader of consent strings says, held against IAB's own encoders and decoders. */
import { GppModel, RangeEntry } from "@iabgpp/cmpapi";
import { RestrictionType, TCString } from "@iabtcf/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MalformedError } from "../../../src/privacy/bits.ts";
import { allowsSection, readSections } from "../../../src/privacy/gpp.ts";
import { allowsEu } from "../../../src/privacy/tcf.ts";
import { allowsUsPrivacy } from "../../../src/privacy/us-privacy.ts";
import { US_SECTIONS } from "../../../src/privacy/us-sections.ts";
import { ALLOWING, FLEXIBLE_VENDOR, gppString, tcString } from "../../support/consents.ts";

const purposes = fc.uniqueArray(fc.integer({ min: 1, max: 11 }));
const vendors = fc.uniqueArray(fc.integer({ min: 1, max: 1_200 }), { maxLength: 300 });
const USED = [1, 2, 7];

/** Null where it is malformed. */
function read(text: string, vendor: number | null = null): boolean | null {
	try {
		return allowsEu(text, vendor);
	} catch (error) {
		if (error instanceof MalformedError) return null;
		throw error;
	}
}

describe("unit: TC strings", () => {
	it("allow by every purpose that is used, and by the vendor where there is one, whichever way vendors are written", () => {
		const some = fc.oneof(
			vendors,
			fc
				.tuple(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 0, max: 600 }))
				.map(([first, more]) => Array.from({ length: more }, (_, at) => first + at)),
		);
		fc.assert(
			fc.property(
				purposes,
				purposes,
				some,
				fc.integer({ min: 1, max: 1_200 }),
				fc.boolean(),
				(given, claimed, consented, vendor, isOld) => {
					// Nobody here has a legitimate interest: what is claimed allows nothing.
					const made = isOld ? { created: "2025-06-01", disclosed: null } : {};
					const text = tcString({ purposes: given, interests: claimed, vendors: consented, ...made });
					const hasPurposes = USED.every((purpose) => given.includes(purpose));
					expect(read(text)).toBe(hasPurposes);
					expect(read(text, vendor)).toBe(hasPurposes && consented.includes(vendor));
				},
			),
			{ numRuns: 40 },
		);
	});

	it("allow nothing by legitimate interests", () => {
		expect(read(tcString({ purposes: [1], interests: [2, 7] }))).toBe(false);
		expect(read(tcString({ purposes: [1, 2, 7], interests: [2, 7] }))).toBe(true);
	});

	it("allow no vendor what its publisher does not allow it", () => {
		const consent = { purposes: USED, vendors: [41, 42] };
		expect(read(tcString({ ...consent, restricted: [{ purpose: 2, vendor: 42 }] }), 42)).toBe(false);
		expect(read(tcString({ ...consent, restricted: [{ purpose: 2, vendor: 42 }] }), 41)).toBe(true);
		expect(read(tcString({ ...consent, restricted: [{ purpose: 9, vendor: 42 }] }), 42)).toBe(true);
		expect(read(tcString({ ...consent, restricted: [{ purpose: 2, vendor: 42 }] }))).toBe(true);
	});

	it("allow no vendor by consent what its publisher asks a legitimate interest for", () => {
		const consent = { purposes: USED, vendors: [42, FLEXIBLE_VENDOR] };
		const restricted = (type: RestrictionType, purpose = 7) =>
			tcString({ ...consent, restricted: [{ purpose, vendor: FLEXIBLE_VENDOR, type }] });
		expect(read(restricted(RestrictionType.REQUIRE_LI), FLEXIBLE_VENDOR)).toBe(false);
		expect(read(restricted(RestrictionType.REQUIRE_LI, 9), FLEXIBLE_VENDOR)).toBe(true);
		expect(read(restricted(RestrictionType.REQUIRE_LI), 42)).toBe(true);
		expect(read(restricted(RestrictionType.REQUIRE_LI))).toBe(true);
	});

	it("allow by a vendor that was disclosed alone, and since March 2026 not where nobody says which were", () => {
		const consent = { purposes: USED, vendors: [41, 42] };
		for (const [created, untold] of [
			["2026-02-28T23:59:59Z", true],
			["2026-03-01T00:00:00Z", false],
		] as const) {
			// Without a vendor purposes alone are asked for.
			expect(read(tcString({ ...consent, created, disclosed: null })), created).toBe(true);
			expect(read(tcString({ ...consent, created, disclosed: null }), 42), created).toBe(untold);
			expect(read(tcString({ ...consent, created, disclosed: [42, 99] })), created).toBe(true);
			expect(read(tcString({ ...consent, created, disclosed: [42, 99] }), 42), created).toBe(true);
			expect(read(tcString({ ...consent, created, disclosed: [42, 99] }), 41), created).toBe(false);
			expect(read(tcString({ ...consent, created, disclosed: [42, 99] }), 99), created).toBe(false);
		}
	});

	it("are malformed wherever IAB's decoder says so: truncated, of other versions, of anything else", () => {
		const others = [
			"",
			".",
			"BOEFEAyOEFEAyAHABDENAI4AAAB9vABAASA",
			`B${ALLOWING.slice(1)}`,
			`D${ALLOWING.slice(1)}`,
			`${ALLOWING}=`,
			`${ALLOWING}.`,
			`${ALLOWING}!`,
			"C".repeat(100_000),
			"\ud800",
			"{gdpr_consent}",
		];
		for (const text of others) expect(read(text), text.slice(0, 60)).toBeNull();
		const text = tcString({ purposes: USED, vendors: [1, 2, 42, 900], restricted: [{ purpose: 2, vendor: 3 }] });
		for (let end = 0; end < text.length; end++) {
			const cut = text.slice(0, end);
			if (isRefusedByIab(cut)) expect(read(cut), `${end} of ${text.length}`).toBeNull();
		}
		expect(read(text.slice(0, 60))).toBeNull();
	});

	it("are malformed with more segments than there are kinds of them", () => {
		const [core, disclosed] = tcString({ purposes: USED, vendors: [42] }).split(".");
		expect(read([core, disclosed, disclosed, disclosed].join("."))).toBe(true);
		expect(read([core, disclosed, disclosed, disclosed, disclosed].join("."))).toBeNull();
	});
});

function isRefusedByIab(text: string): boolean {
	try {
		TCString.decode(text);
		return false;
	} catch {
		return true;
	}
}

/** Fields of a section that may say no, as IAB's encoder names them. */
const REFUSING =
	/^(?:(?:Sale|Sharing|TargetedAdvertising)OptOut|KnownChildSensitiveDataConsents|PersonalDataConsents|AdditionalDataProcessingConsent)$/;
const NAMES: Readonly<Record<number, string>> = {
	7: "usnat",
	8: "usca",
	9: "usva",
	10: "usco",
	11: "usut",
	12: "usct",
	13: "usfl",
	14: "usmt",
	15: "usor",
	16: "ustx",
	17: "usde",
	18: "usia",
	19: "usne",
	20: "usnh",
	21: "usnj",
	22: "ustn",
	23: "usmn",
	24: "usmd",
	25: "usin",
	26: "usky",
	27: "usri",
};

describe("unit: GPP strings", () => {
	it("of the United States refuse by each field that says so, in every section", () => {
		expect([...US_SECTIONS.keys()].map(String)).toEqual(Object.keys(NAMES));
		for (const [id, name] of Object.entries(NAMES)) {
			const fields = fieldsOf(name);
			expect(Object.keys(fields).filter((field) => REFUSING.test(field)).length, name).toBeGreaterThanOrEqual(2);
			expect(allows(Number(id), { [name]: { SaleOptOut: 2 } }), name).toBe(true);
			for (const [field, value] of Object.entries(fields)) {
				const width = Array.isArray(value) ? value.length : 1;
				for (let at = 0; at < width; at++) {
					for (const answer of [0, 1, 2]) {
						const set = Array.isArray(value) ? value.map((_, place) => (place === at ? answer : 0)) : answer;
						// A field that may not say so is not asked.
						if (!isAllowed(name, field, set)) continue;
						expect(allows(Number(id), { [name]: { [field]: set } }), `${name} ${field} ${at} ${answer}`).toBe(
							!(REFUSING.test(field) && answer === 1),
						);
					}
				}
			}
		}
	});

	it("refuse by Global Privacy Control, and in both versions of the national section", () => {
		expect(allows(7, { usnat: { SaleOptOut: 2, Gpc: true } })).toBe(false);
		expect(allows(7, { usnat: { SaleOptOut: 2, Gpc: false } })).toBe(true);
		expect(allows(8, { usca: { SaleOptOut: 2, Gpc: true } })).toBe(false);
		expect(allows(7, { usnat: { Version: 1, SaleOptOut: 2, PersonalDataConsents: 1 } })).toBe(false);
		expect(allows(7, { usnat: { Version: 1, SaleOptOut: 2, KnownChildSensitiveDataConsents: [0, 1, 0] } })).toBe(false);
		expect(allows(7, { usnat: { Version: 1, SaleOptOut: 2 } })).toBe(true);
	});

	it("name their sections, alone and in ranges", () => {
		const names = Object.values(NAMES);
		fc.assert(
			fc.property(fc.subarray(names, { minLength: 1 }), fc.boolean(), (some, withUsp) => {
				const text = gppString({
					...(withUsp && { uspv1: { Notice: "Y", OptOutSale: "N", LspaCovered: "N" } }),
					...Object.fromEntries(some.map((name) => [name, { SaleOptOut: 2 }])),
				});
				const ids = new GppModel(text).getSectionIds();
				expect([...readSections(text)]).toEqual(ids.map((id, at) => [id, text.split("~")[at + 1]]));
			}),
			{ numRuns: 40 },
		);
	});

	it("carry the TC string and the US Privacy string", () => {
		const text = gppString({ tcfeuv2: { PurposeConsents: fill(24, USED) }, uspv1: { Notice: "Y", OptOutSale: "Y", LspaCovered: "N" } });
		const sections = readSections(text);
		expect(allowsSection(2, sections.get(2) ?? "", null)).toBe(true);
		expect(allowsSection(6, sections.get(6) ?? "", null)).toBe(false);
		expect(canada({ express: [1, 2], implied: [7] })).toBe(true);
		expect(canada({ express: [1, 2], implied: [] })).toBe(false);
	});

	it("of Canada allow by the vendor, too, where there is one, in either coding of many vendors", () => {
		const some = fc.oneof(
			fc.uniqueArray(fc.integer({ min: 1, max: 1_200 }), { maxLength: 60 }),
			fc
				.tuple(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 0, max: 600 }))
				.map(([first, more]) => Array.from({ length: more }, (_, at) => first + at)),
		);
		const used = fc.subarray(USED);
		fc.assert(
			fc.property(
				used,
				used,
				some,
				some,
				fc.integer({ min: 1, max: 1_200 }),
				fc.boolean(),
				(express, implied, told, left, vendor, isFixed) => {
					const sent = { express, implied, vendors: told, impliedVendors: left, isFixed };
					expect(canada(sent)).toBe(USED.every((purpose) => express.includes(purpose) || implied.includes(purpose)));
					// A vendor has a purpose by the kind of consent that both have.
					const has = (purpose: number) =>
						(express.includes(purpose) && told.includes(vendor)) || (implied.includes(purpose) && left.includes(vendor));
					expect(canada(sent, vendor)).toBe(USED.every(has));
				},
			),
			{ numRuns: 100 },
		);
	});

	it.each([[[954, 1_165, 1_195]], [[189, 210, 751]], [[496, 622, 632, 711]], [[588, 988, 1_195]], [[52, 846, 944, 1_064]]])(
		"of Canada allow no vendor by what vendors %j would be in the other coding",
		(vendors) => {
			for (const restricted of [[], null]) {
				const sent = { express: USED, implied: [], vendors, restricted, isFixed: true };
				expect(canada(sent, 755)).toBe(false);
				expect(canada(sent, vendors[0])).toBe(true);
			}
		},
	);

	it("of Canada allow no vendor what its publisher restricts, and say no where they are cut, or something else is behind", () => {
		const sent = { express: USED, implied: [], vendors: [41, 42, 900], restricted: [{ purpose: 2, vendor: 42 }] };
		for (const isFixed of [false, true]) {
			expect(canada({ ...sent, isFixed }, 42)).toBe(false);
			expect(canada({ ...sent, isFixed }, 41)).toBe(true);
			expect(canada({ ...sent, isFixed })).toBe(true);
			expect(canada({ ...sent, isFixed, restricted: [{ purpose: 9, vendor: 42 }] }, 42)).toBe(true);
			const text = canadaSection({ ...sent, isFixed });
			const core = text.split(".")[0] ?? "";
			for (let end = 0; end < core.length - 16; end++) expect(readCanada(core.slice(0, end)), `${end}`).not.toBe(true);
			for (const behind of ["AAAAAAAA", ".", ".!", "._.", ".YAAA.YAAA.YAAA.YAAA"]) expect(readCanada(core + behind), behind).not.toBe(true);
		}
		// Encoders of 2023 knew no restrictions.
		expect(readCanada(canadaSection({ ...sent, isFixed: true, restricted: null }), 42)).toBe(true);
	});

	it("are malformed where they are truncated, of another version, or say what nobody may say", () => {
		const text = gppString({ usnat: { SaleOptOut: 2 } });
		const section = readSections(text).get(7) ?? "";
		for (const bad of ["", "~", "DBABLA", "DBABLA~a~b", "DBA", "CBABLA~B", text.slice(0, 4), `DP${"_".repeat(9_000)}`])
			expect(() => readSections(bad), bad.slice(0, 40)).toThrow(MalformedError);
		for (const bad of ["", section.slice(0, 4), `${section}.`, `P${section.slice(1)}`, "BVV_AAAAAAA", "CP_____________"])
			expect(() => allowsSection(7, bad, null), bad).toThrow(MalformedError);
		expect(allowsSection(99, section, null)).toBe(false);
	});
});

it("unit: US Privacy strings opt out of the sale by their third character", () => {
	expect(["1YNN", "1---", "1NNY", "1ynn"].map(allowsUsPrivacy)).toEqual([true, true, true, true]);
	expect(["1YYN", "1yyn", "1-Y-"].map(allowsUsPrivacy)).toEqual([false, false, false]);
	for (const bad of ["", "1", "1YN", "1YNNN", "2YNN", "1YXN", "1Y N", "1YNN ".repeat(20_000)])
		expect(() => allowsUsPrivacy(bad)).toThrow(MalformedError);
});

function fill(length: number, ids: readonly number[]): boolean[] {
	return Array.from({ length }, (_, at) => ids.includes(at + 1));
}

function fieldsOf(name: string): Record<string, unknown> {
	const model = new GppModel();
	model.setFieldValue(name, "SaleOptOut", 2);
	const section: unknown = (model.toObject() as Record<string, unknown>)[name];
	const parts: unknown[] = Array.isArray(section) ? section : [section];
	const { Version: _, MspaVersion: _1, GpcSegmentType: _2, Gpc: _3, ...fields } = Object.assign({}, ...parts);
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === "number" || Array.isArray(value)));
}

function isAllowed(name: string, field: string, value: unknown): boolean {
	try {
		const text = gppString({ [name]: { SaleOptOut: 2, [field]: value } });
		return JSON.stringify(new GppModel(text).getFieldValue(name, field)) === JSON.stringify(value);
	} catch {
		return false;
	}
}

function allows(id: number, sections: Parameters<typeof gppString>[0]): boolean {
	return allowsSection(id, readSections(gppString(sections)).get(id) ?? "", null);
}

type Canada = {
	express: readonly number[];
	implied: readonly number[];
	vendors?: readonly number[];
	impliedVendors?: readonly number[];
	restricted?: readonly { purpose: number; vendor: number }[] | null;
	/** Vendors as they were coded until 2025: each end of a range in 16 bits. */
	isFixed?: boolean;
};

function canada(sent: Canada, vendor: number | null = null): boolean | null {
	return readCanada(canadaSection(sent), vendor);
}

/** Null where it is malformed. */
function readCanada(text: string, vendor: number | null = null): boolean | null {
	try {
		return allowsSection(5, text, vendor);
	} catch (error) {
		if (error instanceof MalformedError) return null;
		throw error;
	}
}

function canadaSection({ express, implied, vendors = [], impliedVendors = [], restricted = [], isFixed = false }: Canada): string {
	const made = gppString({
		tcfcav1: {
			PurposesExpressConsent: fill(24, express),
			PurposesImpliedConsent: fill(24, implied),
			...(!isFixed && {
				VendorExpressConsent: vendors.toSorted((a, b) => a - b),
				VendorImpliedConsent: impliedVendors.toSorted((a, b) => a - b),
				PubRestrictions: restricted?.map(({ purpose, vendor }) => new RangeEntry(purpose, 0, [vendor])),
			}),
		},
	});
	const [core = "", ...others] = (readSections(made).get(5) ?? "").split(".");
	if (!isFixed) return [core, ...others].join(".");
	const number = (value: number, bits: number) => value.toString(2).padStart(bits, "0");
	const ranges = (ids: readonly number[]) => number(ids.length, 12) + ids.map((id) => `0${number(id, 16)}`).join("");
	const set = (ids: readonly number[]) => `${number(Math.max(0, ...ids), 16)}1${ranges(ids)}`;
	const restrictions =
		restricted === null
			? ""
			: number(restricted.length, 12) +
				restricted.map(({ purpose, vendor }) => number(purpose, 6) + number(0, 2) + ranges([vendor])).join("");
	const before = [...core].map((character) => number(BASE64URL.indexOf(character), 6)).join("");
	const bits = before.slice(0, CANADA_BEFORE_VENDORS) + set(vendors) + set(impliedVendors) + restrictions;
	const sextets = bits.padEnd(Math.ceil(bits.length / 6) * 6, "0").match(/.{6}/g) ?? [];
	return [sextets.map((sextet) => BASE64URL[Number.parseInt(sextet, 2)]).join(""), ...others].join(".");
}

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** Its version, two times, the CMP, screen, language, lists, policy, features, and both kinds of consent to purposes. */
const CANADA_BEFORE_VENDORS = 199;
