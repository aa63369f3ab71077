/** Privacy signals of a query and its headers, under the names that IAB's URL macros are put behind. */
import { isPlaceholder } from "../lib/placeholder.ts";
import { decodeText, type Query } from "../lib/query.ts";
import { type PrivacySignals, readSignals } from "./signals.ts";

const NAMES: readonly string[] = ["gdpr", "gdpr_consent", "us_privacy", "gpp", "gpp_sid", "coppa", "lmt"];
const NONE: readonly string[] = [];

/**
 * The signals of a query; null where there are none. Of a repeated one all count. Behind the last parameter that is read may stand anything.
 * @param gpc the header Sec-GPC, by which a browser says that its user refuses the sale of data; null where there is none
 */
export function readQuerySignals(query: Query, gpc: string | null): PrivacySignals | null {
	const refuses = gpc !== null && gpc !== "0" && refusesSale(gpc);
	if (query.isCut) return UNREADABLE;
	if (!query.hasAny(NAMES)) return refuses ? REFUSED : null;
	const read = (name: string) =>
		query
			.rawAll(name)
			.filter((raw) => !isPlaceholder(raw))
			.map(decodeText);
	return readSignals({
		coppa: read("coppa"),
		limited: refuses ? ["1", ...read("lmt")] : read("lmt"),
		gdpr: read("gdpr"),
		consents: read("gdpr_consent"),
		usPrivacy: read("us_privacy"),
		gpp: read("gpp"),
		gppSections: read("gpp_sid"),
	});
}

/** A header that was sent twice has commas between. What is neither blank nor 0 is a 1, or cannot be read: both refuse. */
function refusesSale(gpc: string): boolean {
	return gpc
		.split(",")
		.map((part) => part.trim())
		.some((part) => part !== "" && part !== "0");
}

const only = (limited: string) =>
	readSignals({ coppa: NONE, limited: [limited], gdpr: NONE, consents: NONE, usPrivacy: NONE, gpp: NONE, gppSections: NONE });

/** Of a click that says nothing but this. */
const REFUSED = only("1");
const UNREADABLE = only("?");
