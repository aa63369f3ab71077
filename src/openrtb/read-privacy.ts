/** Privacy signals of a bid request, in the places where OpenRTB 2.5, its extensions and 2.6 have them. */
import { isObject } from "../lib/json.ts";
import { type PrivacySignals, readSignals } from "../privacy/signals.ts";
import { isPresent, type Json, object } from "./read-values.ts";

/**
 * The signals of a request; null where it has none.
 * @param body   as sent
 * @param device `device` of it, and `user`: where that is no object, an empty one
 */
export function readPrivacy(body: Json, device: Json, user: Json): PrivacySignals | null {
	const { regs } = body;
	const { lmt, dnt } = device;
	const { consent, ext } = user;
	const isSilent = regs === undefined && lmt === undefined && dnt === undefined && consent === undefined && ext === undefined;
	// Nearly every request without signals ends here.
	if (isSilent && isReadAs(body.device, device) && isReadAs(body.user, user)) return null;
	const own = object(regs);
	const extended = object(own.ext);
	return readSignals({
		// Of what is no object nobody can tell what it says.
		coppa: [own.coppa, extended.coppa, ...[regs, own.ext].map(notObject), ...[body.device, body.user, ext].map(wrapped)],
		limited: [lmt, dnt, own.gpc, extended.gpc],
		gdpr: [own.gdpr, extended.gdpr],
		consents: [consent, object(ext).consent],
		usPrivacy: [own.us_privacy, extended.us_privacy],
		gpp: [own.gpp, extended.gpp],
		gppSections: [own.gpp_sid, extended.gpp_sid],
	});
}

/** Whether a value is what is read in its place, or absent. */
function isReadAs(sent: unknown, read: Json): boolean {
	return sent === read || sent === undefined;
}

/** A value that stands where an object should, as a flag that cannot be read; undefined where none does. */
function notObject(value: unknown): [unknown] | undefined {
	return isPresent(value) && !isObject(value) ? [value] : undefined;
}

/**
 * The same where there are other things than signals, too: of what may have any in it, so not of a mere text, nor of the empty list that
 * some write for an object.
 */
function wrapped(value: unknown): [unknown] | undefined {
	const isWrapped = Array.isArray(value) ? value.length > 0 : typeof value === "string" && value.includes("{");
	return isWrapped ? [value] : undefined;
}
