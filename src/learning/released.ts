/**
 * Since when learned prices are bid where the operator's numbers were: rows of `learning_work`, Unix milliseconds. Of all campaigns without
 * a mode of their own, of one campaign, by its id, and to one publisher, by its id.
 */
import { laterRelease, type Release, releaseDays } from "../lib/release.ts";
import { DAY_MS } from "../lib/time.ts";
import { type CampaignLearning, type NetworkLearning, networkSettings } from "./policy.ts";

export const RELEASED_NETWORK = "released network";
export const RELEASED_CAMPAIGN = "released campaign ";
export const RELEASED_PUBLISHER = "released publisher ";

/** Days that such a row is kept: the smallest movement that may be set is a hundredth a day. */
export const RELEASES_KEPT_DAYS = 500;

/** Null where it holds nothing back any more. @param since null where nothing was let go of */
export function releaseOf(network: NetworkLearning | null, since: number | null, now: number): Release | null {
	if (since === null) return null;
	const { rise, fall } = networkSettings(network);
	return now - since < releaseDays({ rise, fall }) * DAY_MS ? { since, rise, fall } : null;
}

/** A campaign's: its own, or the network's where it goes by that. @param own since when */
export function releaseOfCampaign(
	network: NetworkLearning | null,
	ofNetwork: Release | null,
	campaign: CampaignLearning | null,
	own: number | null,
	now: number,
): Release | null {
	return laterRelease(releaseOf(network, own, now), campaign?.mode === undefined ? ofNetwork : null);
}
