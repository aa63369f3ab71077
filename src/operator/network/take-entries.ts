/** Takes entries in parts of many, so that what is stored of them is looked up in few statements. */
import { isObject } from "../../lib/json.ts";
import { type Given, type ImportRun, SETTINGS } from "./import-run.ts";
import { takeBrands } from "./take-brands.ts";
import { takeProducts, takeRates, takeSellerProducts, takeSettings } from "./take-others.ts";
import { takePlatform, takePublisher } from "./take-owners.ts";

/**
 * How much is taken at once: of brands with one campaign, two thousand. An invocation has 1,000 statements, and 250,000 brands take 250
 * for this.
 */
const MAX_COST = 4_000;

const TAKE: Readonly<Record<Given["section"], (run: ImportRun, chunk: readonly Given[], isLast: boolean) => Promise<void>>> = {
	platforms: oneByOne(takePlatform),
	publishers: oneByOne(takePublisher),
	brands: takeBrands,
	exchange_rates: takeRates,
	products: takeProducts,
	seller_products: takeSellerProducts,
	[SETTINGS]: takeSettings,
};

function oneByOne(take: (run: ImportRun, given: Given) => Promise<void>) {
	return async (run: ImportRun, chunk: readonly Given[]) => {
		for (const given of chunk) await take(run, given);
	};
}

/** Takes all entries of a source: each is checked, compared with what is stored, and staged where it differs. */
export async function takeEntries(run: ImportRun, source: AsyncIterable<Given> | Iterable<Given>): Promise<void> {
	const waiting = new Map<Given["section"], { chunk: Given[]; cost: number }>();
	for await (const given of source) {
		const queue = waiting.get(given.section) ?? { chunk: [], cost: 0 };
		waiting.set(given.section, queue);
		queue.chunk.push(given);
		queue.cost += costOf(given);
		if (queue.cost < MAX_COST) continue;
		waiting.delete(given.section);
		await TAKE[given.section](run, queue.chunk, false);
	}
	for (const [section, { chunk }] of waiting) await TAKE[section](run, chunk, true);
	for (const { path, message } of run.oldestRates.values()) if (message !== undefined) run.warn([{ path, message }]);
}

/** A brand costs as much as its campaigns, and long lists of keywords. */
function costOf({ section, value }: Given): number {
	if (section !== "brands") return 2;
	const campaigns: unknown = isObject(value) ? value.campaigns : null;
	if (!Array.isArray(campaigns)) return 2;
	const keywords = campaigns.reduce((sum: number, campaign: unknown) => {
		const given = isObject(campaign) ? campaign.keyword_epc : null;
		return sum + (isObject(given) ? Object.keys(given).length : 0);
	}, 0);
	return 1 + campaigns.length + keywords / 10;
}
