/** Privacy signals of a bid request, in the places where OpenRTB 2.5, its extensions and 2.6 have them. */
import { type PrivacySignals, readSignals } from "../privacy/signals.ts";

type Json = Record<string, unknown>;

/**
 * The signals of a request; null where it has none.
 * @param regs `regs` as sent
 */
export function readPrivacy(regs: unknown, device: Json, user: Json): PrivacySignals | null {
	const { lmt, dnt } = device;
	const { consent, ext } = user;
	// Nearly every request without signals ends here.
	if (regs === undefined && lmt === undefined && dnt === undefined && consent === undefined && ext === undefined) return null;
	const own = objectIn(regs);
	const extended = objectIn(own.ext);
	return readSignals({
		// Of what is no object nobody can tell what it says.
		coppa: [own.coppa, extended.coppa, notObject(regs), notObject(own.ext)],
		limited: [lmt, dnt, own.gpc, extended.gpc],
		gdpr: [own.gdpr, extended.gdpr],
		consents: [consent, objectIn(ext).consent],
		usPrivacy: [own.us_privacy, extended.us_privacy],
		gpp: [own.gpp, extended.gpp],
		gppSections: [own.gpp_sid, extended.gpp_sid],
	});
}

const EMPTY: Json = {};

function objectIn(value: unknown): Json {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : EMPTY;
}

/** A value that stands where an object should, as a flag that cannot be read; undefined where none does. */
function notObject(value: unknown): [unknown] | undefined {
	return value === undefined || value === null || value === "" || objectIn(value) === value ? undefined : [value];
}
