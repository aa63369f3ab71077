/** The whole address that a platform is to call, with its network's macros in it: pure. */
import { type NetworkMacros, POSTBACK_FIELDS, type PostbackField } from "./network-macros.ts";

const REQUIRED: ReadonlySet<PostbackField> = new Set(["txnid", "cid", "edate", "payout"]);

export type PostbackUrl = {
	url: string;
	/** Required fields of which the network's macro is not known: in their places the address says what is to stand there. */
	unknown: PostbackField[];
};

/** Where a key is to stand; keys are stored as hashes, so that no old one can be shown. */
export const KEY_PLACE = "{access_key}";

const MEANINGS: Readonly<Record<PostbackField, string>> = {
	txnid: "TRANSACTION_ID",
	cid: "CLICK_ID",
	edate: "DATE",
	payout: "COMMISSION",
	sales: "ORDER_VALUE",
	currency: "CURRENCY",
	status: "STATUS",
};

/** Macros stand as they are written: networks look for them literally. @param accessKey {@link KEY_PLACE}, or a new key */
export function writePostbackUrl(baseUrl: string, accessKey: string, network: NetworkMacros | null): PostbackUrl {
	const known = network?.macros ?? {};
	const fields = POSTBACK_FIELDS.filter((field) => REQUIRED.has(field) || known[field] !== undefined || network === null);
	const query = fields.map((field) => `${field}=${known[field] ?? MEANINGS[field]}`).join("&");
	return {
		url: `${baseUrl.replace(/\/$/, "")}/api/postback/${accessKey}?${query}`,
		unknown: fields.filter((field) => REQUIRED.has(field) && known[field] === undefined),
	};
}
