/** Builds click URLs: links on the click tracker, each with its own token. */

/** Longest value appended to a click URL, in UTF-16 units: a longer one would make a URL that browsers and proxies refuse. */
export const MAX_PARAMETER_LENGTH = 2_048;

/** Parameters of a bid's click URL beside its token, in the order in which they are appended. Null ones are left out. */
export type ClickParameters = {
	rtuli: string;
	clickid: string | null;
	uid: string | null;
	dl: string | null;
	subi: string | null;
	/** IPv4 address as an integer. */
	ip: number | null;
	/** Numeric platform id. */
	pli: number | null;
	cc: string;
	test: boolean;
};

/**
 * The absolute click URL of one bid.
 * @param clickUrl origin of the click tracker, without a trailing slash
 * @param encyp     the bid's token
 */
export function buildClickUrl(clickUrl: string, encyp: string, parameters: ClickParameters): string {
	const { rtuli, clickid, uid, dl, subi, ip, pli, cc, test } = parameters;
	let url = `${clickUrl}/click?encyp=${encyp}&rtuli=${rtuli}`;
	if (clickid !== null) url += `&clickid=${encodeText(clickid)}`;
	if (uid !== null) url += `&uid=${encodeText(uid)}`;
	if (dl !== null) url += `&dl=${encodeText(dl)}`;
	if (subi !== null) url += `&subi=${encodeText(subi)}`;
	if (ip !== null) url += `&ip=${ip}`;
	if (pli !== null) url += `&pli=${pli}`;
	url += `&cc=${encodeText(cc)}`;
	return test ? `${url}&tsts=1` : url;
}

/** Most values: nothing to escape in them. */
const PLAIN = /^[A-Za-z0-9_.~-]*$/;

function encodeText(text: string): string {
	return PLAIN.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
