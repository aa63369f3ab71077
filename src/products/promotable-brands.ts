/** Which brands a publisher may promote now, and by which campaign a product of theirs is linked. */
import type { Publisher } from "../keys/key-owners.ts";
import { readBlockedBrands } from "../lib/blocked-brands.ts";
import type { KeptNetwork } from "./kept-network.ts";

export type PromotableBrand = {
	brandId: number;
	domain: string;
	name: string;
	marketplace: boolean;
	campaignId: number;
	country: string;
};

/**
 * The brands among `domains` that are active, not blocked for the publisher and have an active campaign with a link in a country
 * that is not blocked: the first such campaign. One that a cap has paused still counts where there is no other: its link works.
 */
export async function findPromotableBrands(
	network: KeptNetwork,
	publisher: Publisher,
	domains: readonly string[],
): Promise<Map<string, PromotableBrand>> {
	const isBlocked = readBlocks(publisher);
	const found = new Map<string, PromotableBrand>();
	for (const { brandId, domain, name, marketplace, blockedCountries, campaigns } of await network.brands(domains)) {
		const campaign = campaigns.find(({ country }) => !blockedCountries.includes(country) && !isBlocked(domain, country));
		if (campaign !== undefined) found.set(domain, { brandId, domain, name, marketplace, ...campaign });
	}
	return found;
}

function readBlocks(publisher: Publisher): (domain: string, country: string) => boolean {
	const blocks = readBlockedBrands(publisher.blockedBrands);
	return (domain, country) => blocks.some((block) => block.domain === domain && (block.country === undefined || block.country === country));
}
