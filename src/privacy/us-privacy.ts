import { MalformedError } from "./bits.ts";

/** Version 1, and then each a yes, a no, or a dash where it does not apply: notice, opt-out of sale, LSPA. */
const US_PRIVACY = /^1[YN-]([YN-])[YN-]$/i;

/** Whether a US Privacy string does not opt out of the sale of personal data. @throws MalformedError where it is none */
export function allowsUsPrivacy(text: string): boolean {
	const read = US_PRIVACY.exec(text);
	if (read === null) throw new MalformedError();
	return read[1]?.toUpperCase() !== "Y";
}
