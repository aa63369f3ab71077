/** What becomes of a user's data: pure, of the request's signals and the publisher's policy alone. docs/privacy.md has it for people. */
import type { PrivacyPolicy } from "../lib/enums.ts";
import { MalformedError } from "./bits.ts";
import { allowsSection, readSections, TCF_EU_SECTION, US_PRIVACY_SECTION } from "./gpp.ts";
import type { PrivacySignals } from "./signals.ts";
import { allowsEu } from "./tcf.ts";
import { allowsUsPrivacy } from "./us-privacy.ts";

/** Longest string that is read, in UTF-16 units; those of the largest vendor lists are half as long. */
const MAX_CONSENT_LENGTH = 8_192;

/**
 * The treatment of a request: its publisher's policy where a signal says no, else everything as sent.
 * @param signals  null where the request has none
 * @param vendorId the operator's id in IAB's Global Vendor List; null where it has none
 */
export function privacyOf(signals: PrivacySignals | null, policy: PrivacyPolicy, vendorId: number | null): PrivacyPolicy {
	return signals === null || policy === "as_sent" || refusalOf(signals, vendorId) === null ? "as_sent" : policy;
}

export type Refusal = "unreadable" | "coppa" | "limited" | "us_privacy" | "gpp" | "gdpr";

/** Each rule says no by itself. Those that decode come last. */
const RULES: readonly { name: Refusal; saysNo: (signals: PrivacySignals, vendorId: number | null, sections: ReadSections) => boolean }[] = [
	{ name: "unreadable", saysNo: ({ unreadable }) => unreadable },
	{ name: "coppa", saysNo: ({ coppa }) => coppa },
	{ name: "limited", saysNo: ({ limited }) => limited },
	{ name: "us_privacy", saysNo: ({ usPrivacy }) => usPrivacy.some((text) => !allows(text, allowsUsPrivacy)) },
	{ name: "gpp", saysNo: sectionsRefuse },
	{ name: "gdpr", saysNo: gdprRefuses },
];

/** The first rule that says no; null where none does. */
export function refusalOf(signals: PrivacySignals, vendorId: number | null): Refusal | null {
	let read: Sections | undefined;
	const sections: ReadSections = () => {
		if (read === undefined) read = sectionsOf(signals.gpp);
		return read;
	};
	return RULES.find(({ saysNo }) => saysNo(signals, vendorId, sections))?.name ?? null;
}

/** The texts of each section of all GPP strings; null where one of these cannot be read. */
type Sections = ReadonlyMap<number, readonly string[]> | null;
/** Reads them where they are asked for, and once: each string may name dozens. */
type ReadSections = () => Sections;

const NO_SECTIONS: ReadonlyMap<number, readonly string[]> = new Map();
const NONE: readonly string[] = [];

function sectionsOf(gpp: readonly string[]): Sections {
	if (gpp.length === 0) return NO_SECTIONS;
	const all = new Map<number, string[]>();
	const canBeRead = gpp.every((text) =>
		allows(text, (string) => {
			for (const [id, section] of readSections(string)) {
				const texts = all.get(id);
				if (texts === undefined) all.set(id, [section]);
				else if (!texts.includes(section)) texts.push(section);
			}
			return true;
		}),
	);
	return canBeRead ? all : null;
}

/** Whether a string can be read and allows; one that cannot be read does not. */
function allows(text: string, read: (text: string) => boolean): boolean {
	if (text.length > MAX_CONSENT_LENGTH) return false;
	try {
		return read(text);
	} catch (error) {
		if (error instanceof MalformedError) return false;
		throw error;
	}
}

/** Sections but that of the GDPR: those that apply, and where nobody says which, all of them. One that applies must be there. */
function sectionsRefuse({ gppSections, usPrivacy }: PrivacySignals, vendorId: number | null, read: ReadSections): boolean {
	const sections = read();
	if (sections === null) return true;
	for (const id of gppSections ?? sections.keys()) {
		if (id === TCF_EU_SECTION) continue;
		const texts = sections.get(id) ?? NONE;
		if (texts.length === 0 && !(id === US_PRIVACY_SECTION && usPrivacy.length > 0)) return true;
		if (texts.some((text) => !allows(text, (section) => allowsSection(id, section, vendorId)))) return true;
	}
	return false;
}

/**
 * Where the GDPR applies every consent that is sent must allow, and there must be one. Where nobody says whether it applies, a consent
 * that refuses says no; where it does not apply, only one that cannot be read.
 */
function gdprRefuses({ gdpr, consents, gppSections }: PrivacySignals, vendorId: number | null, read: ReadSections): boolean {
	const isNamed = gppSections?.includes(TCF_EU_SECTION) === true;
	const applies = isNamed ? true : gdpr;
	const strings = gppSections === null || isNamed ? [...consents, ...(read()?.get(TCF_EU_SECTION) ?? NONE)] : consents;
	if (applies === true && strings.length === 0) return true;
	return strings.some((text) => !allows(text, (consent) => allowsEu(consent, vendorId) || applies === false));
}
