/** Writes brand records as JSON text, in the interface's order of fields. Pure. */
import { offerIdOf } from "../lib/md5-ids.ts";
import { MICROS_PER_USD } from "../lib/money.ts";
import type { ListRequest } from "./list-request.ts";
import type { ListedBrand } from "./read-pages.ts";

export type RecordOptions = {
	by: ListRequest["by"];
	/** Whether the publisher may see flat fees. */
	seesFlatFees: boolean;
	/** Origin of tracking links, without a trailing slash. */
	trackerUrl: string;
};

const SUB_IDS = "&subid1={subid1}&subid2={subid2}&subid3={subid3}&subid4={subid4}&subid5={subid5}";
const OPTIONAL = `&subi={subi}&psorc={psorc}&pcat={pcat}${SUB_IDS}`;

/**
 * One record.
 *
 * `flat_fee`, a number of USD, stands only where the campaign pays one and the publisher may see it; `commission_rate` is null
 * beside it. Others see the brand with its own commission rate, which is null where the fee is all it pays.
 * @param token of the campaign's tracking links, base64url
 */
export function writeRecord(brand: ListedBrand, token: string, { by, seesFlatFees, trackerUrl }: RecordOptions): string {
	const { country, flatFeeMicros } = brand;
	const flatFee = seesFlatFees && flatFeeMicros !== null;
	const link = `${trackerUrl}/click?encyp=${token}&cc=${country}&clickid={clickid}`;
	let text = `{"merchant_id":${brand.merchantId},"offer_id":"${offerIdOf(brand.domain)}","campaign_id":${brand.campaignId}`;
	text += `,"domain":${JSON.stringify(brand.domain)},"brand_name":${JSON.stringify(brand.name)}`;
	text += `,"merchant_category":${JSON.stringify(brand.category)},"verification_status":"verified"`;
	if (brand.hasHomepage) text += `,"click_url_homepage":${JSON.stringify(`${link}${OPTIONAL}`)}`;
	if (brand.hasDeeplink) text += `,"click_url_deeplink":${JSON.stringify(`${link}&dl={dl}${OPTIONAL}`)}`;
	// Misspelt by the interface, with an "a" before "ted".
	text += `,"country_code":"${brand.countries.join(",")}","restricated_traffic":${brand.restrictedTraffic}`;
	text += `,"new_deal":${brand.newDeal ? 1 : 0},"last_updated_date":${JSON.stringify(brand.lastUpdatedDate)}`;
	text += `,"commission_rate":${flatFee ? "null" : JSON.stringify(brand.commissionRate)}`;
	if (flatFee) text += `,"flat_fee":${flatFeeMicros / MICROS_PER_USD}`;
	if (by === "country") {
		text += `,"rate_type":${JSON.stringify(brand.rateType)},"rate_basis":${JSON.stringify(brand.rateBasis)}`;
		text += `,"max_rate":${JSON.stringify(brand.maxRate)}`;
	}
	return `${text}}`;
}
