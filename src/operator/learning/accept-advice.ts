/** POST /operator/learning/advice/accept: advised numbers become the operator's, as a change of those campaigns would set them. */
import { sql } from "drizzle-orm";
import { invalidInput } from "../../http/errors.ts";
import { readNetworkLearning } from "../../learning-night/policies.ts";
import { formatUsd } from "../../lib/money.ts";
import type { ImportReport } from "../network/import-answer.ts";
import { type ImportDeps, type ImportOptions, importEntries } from "../network/import-network.ts";
import type { Given } from "../network/import-run.ts";
import type { AcceptRequest } from "./learning-requests.ts";
import { type AdvisedCampaign, readAdvised } from "./read-advice.ts";

/** What "all" takes: those that cost most. */
const MAX_OF_ALL = 10_000;

/**
 * Accepts advice: an import of its own, which can be looked at first, and undone.
 * @throws HttpError 422 where a campaign that is named has no advice; and as imports do
 */
export async function acceptAdvice(deps: ImportDeps, { campaigns }: AcceptRequest, options: ImportOptions): Promise<ImportReport> {
	async function* read(): AsyncGenerator<Given> {
		const network = await readNetworkLearning(deps.db);
		const which =
			campaigns === "all" ? sql`true` : sql`c.campaign_id IN (SELECT CAST(atom AS BIGINT) FROM json_each(${JSON.stringify(campaigns)}))`;
		const found = await readAdvised(deps.db, network, which, sql`true`, MAX_OF_ALL);
		const advised = found.filter(({ numbers }) => numbers.length > 0);
		if (campaigns !== "all") refuseOthers(campaigns, advised);
		for (const [domain, ofBrand] of Map.groupBy(advised, ({ brand }) => brand)) {
			yield { section: "brands", value: { domain, campaigns: ofBrand.map(acceptedFields) }, path: `brands ${domain}` };
		}
	}
	return importEntries(deps, { kind: "patch", verb: "acceptAdvice", isStrict: true, read, fileHash: () => null, undoes: null }, options);
}

/** @throws HttpError 422 */
function refuseOthers(campaigns: readonly number[], advised: readonly AdvisedCampaign[]): void {
	const known = new Set(advised.map(({ campaignId }) => campaignId));
	const faults = campaigns.flatMap((id, at) =>
		known.has(id) ? [] : [{ path: `campaigns[${at}]`, message: `${id} has no advice: look at it again` }],
	);
	if (faults.length > 0) throw invalidInput(faults.slice(0, MAX_FAULTS), faults.length);
}

const MAX_FAULTS = 100;

const OF_KEYWORD = "keyword_epc.";

function acceptedFields({ campaignId, keywordEpcMicros, numbers }: AdvisedCampaign): Record<string, unknown> {
	const keywords = new Map(Object.entries(JSON.parse(keywordEpcMicros) as Record<string, number>));
	const fields = new Map<string, string>();
	for (const { field, learnedMicros } of numbers) {
		if (field.startsWith(OF_KEYWORD)) keywords.set(field.slice(OF_KEYWORD.length), learnedMicros);
		else fields.set(field, formatUsd(learnedMicros));
	}
	return {
		campaign_id: campaignId,
		...Object.fromEntries(fields),
		...(numbers.some(({ field }) => field.startsWith(OF_KEYWORD)) && {
			keyword_epc: Object.fromEntries([...keywords].map(([keyword, micros]) => [keyword, formatUsd(micros)])),
		}),
	};
}
