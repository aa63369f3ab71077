/** Consent strings as IAB's own encoders make them. */
import { GppModel } from "@iabgpp/cmpapi";
import { GVL, PurposeRestriction, RestrictionType, Segment, SegmentEncoder, TCModel, TCString } from "@iabtcf/core";

const MAX_VENDOR = 1_200;
const ALL_VENDORS = Array.from({ length: MAX_VENDOR }, (_, at) => at + 1);
const PURPOSES = Array.from({ length: 11 }, (_, at) => at + 1);

/** The one whose purposes a publisher may have rest on consent or on a legitimate interest. */
export const FLEXIBLE_VENDOR = 43;

/** A list in which every vendor may ask for every purpose: the encoder writes no others. */
function vendorList(): GVL {
	const flexible = [...PURPOSES];
	const vendor = (id: number, on: "purposes" | "legIntPurposes") => ({
		id,
		name: `v${id}`,
		purposes: on === "purposes" ? flexible : [],
		legIntPurposes: on === "legIntPurposes" ? flexible.filter((purpose) => purpose > 1) : [],
		// What a publisher may ask another basis for.
		flexiblePurposes: id === FLEXIBLE_VENDOR ? flexible : [],
		specialPurposes: [],
		features: [],
		specialFeatures: [],
		policyUrl: "",
		overflow: { httpGetLimit: 32 as const },
		cookieMaxAgeSeconds: null,
		usesCookies: false,
		cookieRefresh: false,
		usesNonCookieAccess: false,
	});
	const vendors = Object.fromEntries(ALL_VENDORS.map((id) => [id, vendor(id, "purposes")]));
	const named = (id: number) => ({ id, name: `p${id}`, description: "", descriptionLegal: "", illustrations: [] });
	return new GVL({
		gvlSpecificationVersion: 3,
		vendorListVersion: 200,
		tcfPolicyVersion: 4,
		lastUpdated: "2026-01-01T00:00:00Z",
		purposes: Object.fromEntries(PURPOSES.map((id) => [id, named(id)])),
		specialPurposes: {},
		features: {},
		specialFeatures: {},
		vendors,
		stacks: {},
		// biome-ignore lint/suspicious/noExplicitAny: a list of the parts that the encoder reads
	} as any);
}

let list: GVL | undefined;

export type Consent = {
	purposes: readonly number[];
	vendors?: readonly number[];
	/** Purposes that a legitimate interest is claimed for. */
	interests?: readonly number[];
	/** Purposes that the publisher does not allow these vendors, unless it is said to ask another basis for them. */
	restricted?: readonly { purpose: number; vendor: number; type?: RestrictionType }[];
	/** Vendors that the user was told of: all, if not given; null: nobody says, as before TCF 2.3. */
	disclosed?: readonly number[] | null;
	/** When it was made. */
	created?: string;
};

export function tcString(consent: Consent): string {
	const { purposes, vendors = [], interests = [], restricted = [], disclosed = ALL_VENDORS, created = "2026-11-22" } = consent;
	list ??= vendorList();
	const model = new TCModel(list);
	model.cmpId = 10;
	model.cmpVersion = 1;
	model.isServiceSpecific = true;
	model.purposeConsents.set([...purposes]);
	model.purposeLegitimateInterests.set([...interests]);
	model.vendorConsents.set([...vendors]);
	for (const { purpose, vendor, type = RestrictionType.NOT_ALLOWED } of restricted)
		model.publisherRestrictions.add(vendor, new PurposeRestriction(purpose, type));
	model.created = new Date(created);
	const [core, ...others] = TCString.encode(model).split(".");
	if (disclosed === null) return [core, ...others].join(".");
	// To write whole strings the encoder discloses the whole list.
	model.vendorsDisclosed.set([...disclosed]);
	return [core, SegmentEncoder.encode(model, Segment.VENDORS_DISCLOSED), ...others].join(".");
}

/** A GPP string with these fields, by section; what a section's field is not given is as its encoder begins it. */
export function gppString(sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>): string {
	const model = new GppModel();
	for (const [section, fields] of Object.entries(sections)) {
		for (const [field, value] of Object.entries(fields)) model.setFieldValue(section, field, value);
	}
	return model.encode();
}

/** Everything that a bid uses, consented to. */
export const ALLOWING = tcString({ purposes: [1, 2, 7], vendors: [42] });
