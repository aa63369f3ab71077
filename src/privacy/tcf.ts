/** TCF consent strings, as far as a bid needs them. IAB's own encoder holds this in test/unit/privacy. */
import { Bits, MalformedError } from "./bits.ts";

/**
 * Purposes of the TCF for which a bid and its click use personal data, each by consent alone: 1 (to store or read what identifies a
 * device), 2 (to select an advertisement), 7 (to measure it). docs/privacy.md says what is done for each.
 */
const PURPOSES_USED = [1, 2, 7] as const;

/** Widths in bits, in the order in which a core segment has its fields. */
const VERSION_BITS = 6;
const EU_VERSION = 2;
const CA_VERSION = 1;
const CREATED_BITS = 36;
/** From the time of making to the purposes: updated, CMP and its version, screen, language, vendor list, policy, and flags. */
const EU_BEFORE_PURPOSES_BITS = 36 + 12 + 12 + 6 + 12 + 12 + 6 + 1 + 1 + 12;
const CA_BEFORE_PURPOSES_BITS = 36 + 36 + 12 + 12 + 6 + 12 + 12 + 6 + 1 + 12;
const PURPOSES_BITS = 24;
/** One treatment of purpose 1, and the publisher's country. */
const AFTER_PURPOSES_BITS = 1 + 12;
const VENDOR_BITS = 16;
const COUNT_BITS = 12;
const PURPOSE_BITS = 6;
/** The one restriction that leaves what rests on consent alone: others allow nothing, or ask a legitimate interest. */
const REQUIRE_CONSENT = 1;
const SEGMENT_TYPE_BITS = 3;
/** Each kind of further segment stands once at most. */
const MAX_FURTHER_SEGMENTS = 3;
/** Strings made from here on (March 2026, in tenths of a second) tell which vendors the user was told of: TCF 2.3. */
const DISCLOSING_SINCE = Date.UTC(2026, 2, 1) / 100;

/**
 * Whether a TC string of version 2 allows what a bid does: consent for every purpose used, and for the operator's vendor where it has one,
 * without a publisher's restriction that rules it out. That vendor must be among those that were disclosed; a string of which nobody can tell
 * is no consent to it, unless it is older than that rule.
 * @param vendorId the operator's id in the Global Vendor List; null: purposes alone are asked for
 * @throws MalformedError where it is truncated, of another version, or no such string
 */
export function allowsEu(text: string, vendorId: number | null): boolean {
	const [core = "", ...others] = text.split(".", MAX_FURTHER_SEGMENTS + 2);
	if (others.length > MAX_FURTHER_SEGMENTS) throw new MalformedError("more segments than there are kinds");
	const bits = new Bits(core);
	if (bits.take(VERSION_BITS) !== EU_VERSION) throw new MalformedError("another version");
	const created = bits.take(CREATED_BITS / 2) * 2 ** (CREATED_BITS / 2) + bits.take(CREATED_BITS / 2);
	bits.skip(EU_BEFORE_PURPOSES_BITS);
	const consents = bits.take(PURPOSES_BITS);
	bits.skip(PURPOSES_BITS + AFTER_PURPOSES_BITS);
	const isVendorAllowed = takeVendors(bits, vendorId);
	takeVendors(bits, null);
	const isRestricted = takeRestrictions(bits, vendorId);
	let isDisclosed: boolean | null = null;
	for (const segment of others) isDisclosed = takeSegment(new Bits(segment), vendorId) ?? isDisclosed;
	return hasPurposes(consents) && isVendorAllowed && !isRestricted && (vendorId === null || (isDisclosed ?? created < DISCLOSING_SINCE));
}

/** Whether a string of TCF Canada allows it: by express or implied consent. @throws MalformedError as {@link allowsEu} */
export function allowsCanada(text: string): boolean {
	const bits = new Bits(text.split(".", 1)[0] ?? "");
	if (bits.take(VERSION_BITS) !== CA_VERSION) throw new MalformedError("another version");
	bits.skip(CA_BEFORE_PURPOSES_BITS);
	const express = bits.take(PURPOSES_BITS);
	return hasPurposes(express | bits.take(PURPOSES_BITS));
}

function hasPurposes(consents: number): boolean {
	return PURPOSES_USED.every((purpose) => ((consents >> (PURPOSES_BITS - purpose)) & 1) === 1);
}

/** Reads a set of vendors: one bit each, or ranges. @returns whether the vendor is among them; true where none is asked for */
function takeVendors(bits: Bits, vendorId: number | null): boolean {
	const max = bits.take(VENDOR_BITS);
	if (bits.take(1) === 1) return takeRanges(bits, vendorId);
	const start = bits.at;
	bits.skip(max);
	if (vendorId === null) return true;
	if (vendorId > max) return false;
	const end = bits.at;
	bits.at = start + vendorId - 1;
	const isIn = bits.take(1) === 1;
	bits.at = end;
	return isIn;
}

function takeRanges(bits: Bits, vendorId: number | null): boolean {
	let isIn = vendorId === null;
	for (let left = bits.take(COUNT_BITS); left > 0; left--) {
		const isRange = bits.take(1) === 1;
		const first = bits.take(VENDOR_BITS);
		const last = isRange ? bits.take(VENDOR_BITS) : first;
		if (last < first) throw new MalformedError("a range that ends before it begins");
		isIn ||= vendorId !== null && first <= vendorId && vendorId <= last;
	}
	return isIn;
}

/** Whether the publisher rules out a purpose that is used, for this vendor. */
function takeRestrictions(bits: Bits, vendorId: number | null): boolean {
	let isRestricted = false;
	for (let left = bits.take(COUNT_BITS); left > 0; left--) {
		const purpose = bits.take(PURPOSE_BITS);
		const type = bits.take(2);
		const isMeant = takeRanges(bits, vendorId) && vendorId !== null;
		isRestricted ||= isMeant && type !== REQUIRE_CONSENT && PURPOSES_USED.some((used) => used === purpose);
	}
	return isRestricted;
}

/**
 * A further segment: vendors that were disclosed (1) or allowed (2), or the publisher's own purposes (3); only the form of the others is of
 * interest. @returns whether the vendor was disclosed; null where the segment does not tell
 */
function takeSegment(bits: Bits, vendorId: number | null): boolean | null {
	const type = bits.take(SEGMENT_TYPE_BITS);
	if (type === 1) return takeVendors(bits, vendorId);
	if (type === 2) takeVendors(bits, null);
	else if (type === 3) {
		bits.skip(2 * PURPOSES_BITS);
		bits.skip(2 * bits.take(PURPOSE_BITS));
	} else throw new MalformedError("an unknown segment");
	return null;
}
