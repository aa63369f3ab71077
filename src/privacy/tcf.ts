/** TCF consent strings, as far as a bid needs them. IAB's own encoder holds this in test/unit/privacy. */
import { Bits, COUNT_BITS, MalformedError } from "./bits.ts";

/**
 * Purposes of the TCF for which a bid and its click use personal data, each by consent alone: 1 (to store or read what identifies a
 * device), 2 (to select an advertisement), 7 (to measure it). docs/privacy.md says what is done for each.
 */
const PURPOSES_USED: readonly number[] = [1, 2, 7];

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
const PURPOSE_BITS = 6;
/** The one restriction that leaves what rests on consent alone: others allow nothing, or ask a legitimate interest. */
const REQUIRE_CONSENT = 1;
const SEGMENT_TYPE_BITS = 3;
/** A core ends with less than this of zeros. */
const PADDING_BITS = 24;
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
	const [bits, ...others] = segmentsOf(text, EU_VERSION);
	const created = bits.take(CREATED_BITS / 2) * 2 ** (CREATED_BITS / 2) + bits.take(CREATED_BITS / 2);
	bits.skip(EU_BEFORE_PURPOSES_BITS);
	const consents = bits.take(PURPOSES_BITS);
	bits.skip(PURPOSES_BITS + AFTER_PURPOSES_BITS);
	const isVendorAllowed = takeVendors(bits, vendorId);
	takeVendors(bits, null);
	const isRestricted = takeRestrictions(bits, vendorId, REQUIRE_CONSENT);
	let isDisclosed: boolean | null = null;
	for (const segment of others) isDisclosed = takeSegment(segment, vendorId) ?? isDisclosed;
	return hasPurposes(consents) && isVendorAllowed && !isRestricted && (vendorId === null || (isDisclosed ?? created < DISCLOSING_SINCE));
}

/**
 * Whether a string of TCF Canada allows it: each purpose by express or implied consent, which the operator's vendor must have of the same
 * kind, without any restriction of the publisher. @throws MalformedError as {@link allowsEu}
 */
export function allowsCanada(text: string, vendorId: number | null): boolean {
	const [bits] = segmentsOf(text, CA_VERSION);
	bits.skip(CA_BEFORE_PURPOSES_BITS);
	const express = bits.take(PURPOSES_BITS);
	const implied = bits.take(PURPOSES_BITS);
	const start = bits.at;
	const read = (isFibonacci: boolean): boolean => {
		bits.at = start;
		const given = (takeVendors(bits, vendorId, isFibonacci) ? express : 0) | (takeVendors(bits, vendorId, isFibonacci) ? implied : 0);
		// Encoders of 2023 wrote none.
		const isRestricted = bits.length - bits.at >= COUNT_BITS && takeRestrictions(bits, vendorId, null, isFibonacci);
		if (bits.length - bits.at >= PADDING_BITS) throw new MalformedError();
		return hasPurposes(given) && !isRestricted;
	};
	// Nothing says which coding it has: what is read in the wrong one comes to no end, or to another, or has another last vendor than it says.
	try {
		return read(true);
	} catch (error) {
		if (!(error instanceof MalformedError)) throw error;
		return read(false);
	}
}

/** A string's segments, its core behind the version. */
function segmentsOf(text: string, version: number): [Bits, ...Bits[]] {
	const [core = "", ...others] = text.split(".", MAX_FURTHER_SEGMENTS + 2);
	const bits = new Bits(core);
	if (others.length > MAX_FURTHER_SEGMENTS || bits.take(VERSION_BITS) !== version) throw new MalformedError();
	return [bits, ...others.map((segment) => new Bits(segment))];
}

function hasPurposes(consents: number): boolean {
	return PURPOSES_USED.every((purpose) => ((consents >> (PURPOSES_BITS - purpose)) & 1) === 1);
}

/** Reads a set of vendors: one bit each, or ranges. @returns whether the vendor is among them; true where none is asked for */
function takeVendors(bits: Bits, vendorId: number | null, isFibonacci = false): boolean {
	const max = bits.take(VENDOR_BITS);
	if (bits.take(1) === 1) return takeRanges(bits, vendorId, isFibonacci ? max : undefined);
	const end = bits.at + max;
	let isIn = vendorId === null;
	if (vendorId !== null && vendorId <= max) {
		bits.skip(vendorId - 1);
		isIn = bits.take(1) === 1;
	}
	bits.skip(end - bits.at);
	return isIn;
}

/** @param max where the last range has to end, in Fibonacci coding; in the other, nothing of them is told before */
function takeRanges(bits: Bits, vendorId: number | null, max?: number): boolean {
	let isIn = vendorId === null;
	let end = 0;
	bits.takeRanges(max !== undefined, (first, last) => {
		isIn ||= vendorId !== null && first <= vendorId && vendorId <= last;
		end = last;
	});
	if (max !== undefined && end !== max) throw new MalformedError();
	return isIn;
}

/**
 * Whether the publisher rules out a purpose that is used, for this vendor.
 * @param harmless the kind of restriction that does not; null for none
 */
function takeRestrictions(bits: Bits, vendorId: number | null, harmless: number | null, isFibonacci = false): boolean {
	let isRestricted = false;
	for (let left = bits.take(COUNT_BITS); left > 0; left--) {
		const purpose = bits.take(PURPOSE_BITS);
		const type = bits.take(2);
		const isMeant = (isFibonacci ? takeVendors(bits, vendorId, true) : takeRanges(bits, vendorId)) && vendorId !== null;
		isRestricted ||= isMeant && type !== harmless && PURPOSES_USED.includes(purpose);
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
	} else throw new MalformedError();
	return null;
}
