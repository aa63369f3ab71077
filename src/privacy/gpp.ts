/** GPP strings, as far as a bid needs them: which sections there are, and whether each allows it. */
import { Bits, MalformedError } from "./bits.ts";
import { allowsCanada, allowsEu } from "./tcf.ts";
import { allowsUsPrivacy } from "./us-privacy.ts";
import { US_SECTIONS } from "./us-sections.ts";

/** Ids of sections that are no state's. */
export const TCF_EU_SECTION = 2;
const TCF_CANADA_SECTION = 5;
export const US_PRIVACY_SECTION = 6;

const HEADER_TYPE = 3;
const HEADER_VERSION = 1;
const WIDE_BITS = 6;
/** Sections that IAB has named so far are half as many. */
const MAX_SECTIONS = 64;

/** Sections of a string by their ids. @throws MalformedError where it is no GPP string */
export function readSections(gpp: string): Map<number, string> {
	const [header = "", ...texts] = gpp.split("~", MAX_SECTIONS + 2);
	const ids = readIds(new Bits(header));
	if (ids.length !== texts.length || texts.includes("")) throw new MalformedError();
	return new Map(ids.map((id, at) => [id, texts[at] ?? ""]));
}

/** The ids in ascending order: each, or the ends of a range, as the distance from the one before. */
function readIds(bits: Bits): number[] {
	if (bits.take(WIDE_BITS) !== HEADER_TYPE || bits.take(WIDE_BITS) !== HEADER_VERSION) throw new MalformedError();
	const ids: number[] = [];
	bits.takeRanges(true, (first, last) => {
		if (last - first + ids.length >= MAX_SECTIONS) throw new MalformedError();
		for (let id = first; id <= last; id++) ids.push(id);
	});
	return ids;
}

/**
 * Whether a section allows what a bid does. One that is not known cannot say so.
 * @throws MalformedError where it cannot be read
 */
export function allowsSection(id: number, text: string, vendorId: number | null): boolean {
	if (id === TCF_EU_SECTION) return allowsEu(text, vendorId);
	if (id === TCF_CANADA_SECTION) return allowsCanada(text, vendorId);
	if (id === US_PRIVACY_SECTION) return allowsUsPrivacy(text);
	return allowsUsState(id, text);
}

/** What a field of two bits says, beside 0 (does not apply) and 2 (no opt-out, consent). */
const REFUSED = 1;
const INVALID = 3;
const GPC_SEGMENT = 1;

function allowsUsState(id: number, text: string): boolean {
	const layouts = US_SECTIONS.get(id);
	if (layouts === undefined) return false;
	const [core = "", ...others] = text.split(".");
	const bits = new Bits(core);
	const version = bits.take(WIDE_BITS);
	const layout = layouts.find((known) => known.version === version);
	if (layout === undefined || bits.length < layout.bits) throw new MalformedError();
	const saysNo = [...layout.optOuts, ...layout.consents].map((at) => {
		bits.at = at;
		const value = bits.take(2);
		if (value === INVALID) throw new MalformedError();
		return value === REFUSED;
	});
	const hasGpc = others.map((segment) => isGpc(new Bits(segment)));
	return !saysNo.includes(true) && !hasGpc.includes(true);
}

/** Whether a further segment is that of Global Privacy Control, and says that the user has it. */
function isGpc(bits: Bits): boolean {
	return bits.take(2) === GPC_SEGMENT && bits.take(1) === 1;
}
