/** Takes platforms and publishers: lays them over what is stored, and stages those that change, with their credentials. */
import type { platforms } from "../../db/schema/platforms.ts";
import type { publishers } from "../../db/schema/publishers.ts";
import { suggest } from "../../http/suggest.ts";
import { CALLBACK_MACROS, findCallbackUrlFault, macrosOf, replacedCallbackParameters } from "../../lib/callback-url.ts";
import { isObject } from "../../lib/json.ts";
import { isMasked, maskCallbackUrl } from "../../lib/mask-url.ts";
import { endpointsOf } from "./bids-of.ts";
import { compactEntry, exportPlatform, exportPublisher, type FileEntry } from "./export-entry.ts";
import type { Given, ImportRun } from "./import-run.ts";
import { storeLearning } from "./learning-file.ts";
import { type PlatformEntry, type PublisherEntry, platformSchema, publisherSchema } from "./network-file.ts";
import { mergeEntry, readEntry } from "./read-entry.ts";
import { type Identified, identifyPublishers, NEEDS_ADMIN, type Placed, readStoredCredentials, stageKeys } from "./stage-credentials.ts";
import { stopsOfPublisher } from "./stage-stops.ts";
import { unknownFields } from "./unknown-fields.ts";

export async function takePlatform(run: ImportRun, { value, path, undoing }: Given): Promise<void> {
	run.counts.platforms++;
	const stored = (await run.owners.platforms()).get(idOf(value));
	const base = stored === undefined ? null : exportPlatform(stored);
	const read = readEntry("platforms", mergeEntry(base, value), path);
	if ("faults" in read) return run.note(read.faults);
	run.noteUnknown(unknownFields("platforms", value, path));
	run.note(run.index.claimKey("platform", read.entry.id, path, ".id"));
	if (undoing !== undefined) run.expect("platforms", read.entry.id, undoing.expected, base);
	run.platforms.push({ entry: read.entry, path });
}

export async function takePublisher(run: ImportRun, { value, path, undoing }: Given): Promise<void> {
	run.counts.publishers++;
	const stored = (await run.owners.publishers()).get(idOf(value));
	const base = stored === undefined ? null : exportPublisher(stored);
	const read = readEntry("publishers", withStoredAddress(base, mergeEntry(base, value)), path);
	if ("faults" in read) return run.note(read.faults);
	const { callback_url: url } = read.entry;
	if (url !== null && url !== base?.callback_url && isMasked(url)) run.note([{ path: `${path}.callback_url`, message: HIDDEN }]);
	run.noteUnknown(unknownFields("publishers", value, path));
	run.note(run.index.claimKey("publisher", read.entry.id, path, ".id"));
	if (undoing !== undefined) run.expect("publishers", read.entry.id, undoing.expected, base);
	run.publishers.push({ entry: read.entry, path });
}

const HIDDEN = "has *** in the place of what may be a secret: give the whole address, or leave the field out to keep the stored one";

/** Whoever sends an address back as it was shown, with what may be a secret hidden, has not changed it. */
function withStoredAddress(stored: FileEntry | null, entry: unknown): unknown {
	const url = stored?.callback_url;
	if (typeof url !== "string" || !isObject(entry) || typeof entry.callback_url !== "string" || !isMasked(entry.callback_url)) return entry;
	return entry.callback_url.trim() === maskCallbackUrl(url) ? { ...entry, callback_url: url } : entry;
}

function idOf(value: unknown): string {
	return isObject(value) && typeof value.id === "string" ? value.id.trim() : "";
}

/** Stages platforms and publishers once all of the file are known, and credentials for those that have none. */
export async function stageOwners(run: ImportRun, allowInsecureCallbacks: boolean, now: number): Promise<void> {
	if (run.platforms.length + run.publishers.length === 0) return;
	checkCallbackUrls(run, allowInsecureCallbacks);
	const stored = await readStoredCredentials(run.db);
	const identified = identifyPublishers(stored, run.publishers, run.options.mayReplaceKeys);
	run.note(identified.faults);
	run.warn(identified.warnings);
	const keys = await stageKeys(stored, run.stages.network, identified.publishers, run.platforms, now, run.options.mayReplaceKeys);
	run.note(keys.faults);
	run.warn(keys.warnings);
	for (const placed of run.platforms) await stagePlatform(run, placed, keys.fresh);
	for (const { entry } of identified.publishers) await stagePublisher(run, entry, keys.fresh);
	run.issued.push(...identified.issued, ...keys.issued);
}

/** The rules of callback addresses that depend on how this Worker is configured. */
function checkCallbackUrls(run: ImportRun, allowInsecure: boolean): void {
	for (const { entry, path } of run.publishers) {
		if (entry.callback_url === null) continue;
		const place = `${path}.callback_url`;
		const fault = findCallbackUrlFault(entry.callback_url, { allowInsecure });
		if (fault !== null) run.note([{ path: place, message: fault }]);
		for (const name of macrosOf(entry.callback_url).unknown) {
			run.warn([
				{ path: place, message: `{${name}} is no macro of callbacks, and is sent as it is${suggest(name, [...CALLBACK_MACROS])}` },
			]);
		}
		const own = replacedCallbackParameters(entry.callback_url);
		if (own.length > 0) run.warn([{ path: place, message: `has ${own.join(", ")} of its own, which callbacks replace` }]);
	}
}

/** Keys that are new, by kind and owner. */
type Fresh = Awaited<ReturnType<typeof stageKeys>>["fresh"];

/** What an entry had and has of keys, which only differences show, and those without the key. */
function keyFields(fresh: Fresh, id: string, kinds: Readonly<Record<string, string>>): { before: FileEntry; after: FileEntry } {
	const given = Object.entries(kinds).filter(([, kind]) => fresh.has(`${kind} ${id}`));
	return {
		before: Object.fromEntries(given.map(([field, kind]) => [field, fresh.get(`${kind} ${id}`) === "another" ? 1 : null])),
		after: Object.fromEntries(given.map(([field]) => [field, 2])),
	};
}

const PUBLISHER_KEYS = { access_key: "access_key", publisher_key: "publisher_key" };
const PLATFORM_KEYS = { access_key: "platform_key" };

async function stagePlatform(run: ImportRun, { entry, path }: Placed<PlatformEntry>, fresh: Fresh): Promise<void> {
	const stored = (await run.owners.platforms()).get(entry.id);
	const row = writePlatform(entry);
	const { mayReplaceKeys, isUndo } = run.options;
	// Whoever has it can make up conversions, and without it anyone can who has the address. What an undo puts back may be known to others.
	const hasOther = stored !== undefined && stored.postbackSecret !== row.postbackSecret && (stored.postbackSecret !== null || isUndo);
	if (hasOther && !mayReplaceKeys) run.note([{ path: `${path}.postback_secret`, message: NEEDS_ADMIN }]);
	const keys = keyFields(fresh, entry.id, PLATFORM_KEYS);
	if (stored === undefined) {
		await run.record(run.difference.add("platforms", entry.id, () => compactEntry(exportPlatform(row), platformSchema.entries)));
	} else {
		const before = { ...exportPlatform(stored), ...keys.before };
		const change = run.difference.compare("platforms", entry.id, before, { ...exportPlatform(row), ...keys.after });
		if (change === null) return;
		await run.record(change);
	}
	await run.stages.network.add("platforms", row);
}

async function stagePublisher(run: ImportRun, entry: Identified, fresh: Fresh): Promise<void> {
	const stored = (await run.owners.publishers()).get(entry.id);
	const row = writePublisher(entry);
	const keys = keyFields(fresh, entry.id, PUBLISHER_KEYS);
	if (stored === undefined) {
		await run.record(run.difference.add("publishers", entry.id, () => compactEntry(exportPublisher(row), publisherSchema.entries)));
	} else {
		const before = { ...exportPublisher(stored), ...keys.before };
		const change = run.difference.compare("publishers", entry.id, before, { ...exportPublisher(row), ...keys.after });
		if (change === null) return;
		await run.record(change);
	}
	run.difference.bidFor(entry.id, stored === undefined ? [] : endpointsOf(stored), endpointsOf(row));
	for (const stop of stopsOfPublisher(entry, entry.status === "suspended")) await run.stages.network.add("stops", stop);
	await run.stages.network.add("publishers", row, `publishers ${entry.id}`);
}

function writePlatform(entry: PlatformEntry): typeof platforms.$inferSelect {
	return {
		id: entry.id,
		platformId: entry.platform_id,
		name: entry.name,
		currency: entry.currency,
		statusMap: JSON.stringify(entry.status_map),
		maxPayoutMicros: entry.max_payout,
		matchByPublisherClickId: entry.match_by_publisher_click_id,
		postbackSecret: entry.postback_secret,
		sourceRanges: entry.source_ranges === null ? null : JSON.stringify(entry.source_ranges),
		negativePayout: entry.negative_payout,
		postbacksPerMinute: entry.postbacks_per_minute,
		epcLearning: storeLearning(entry.epc_learning),
	};
}

function writePublisher(entry: PublisherEntry & { publisher_id: string; publisher_identity: string }): typeof publishers.$inferSelect {
	return {
		id: entry.id,
		name: entry.name,
		publisherId: entry.publisher_id,
		publisherIdentity: entry.publisher_identity,
		servingEngineEnabled: entry.serving_engine_enabled,
		openrtbEnabled: entry.openrtb_enabled,
		seat: entry.seat,
		revenueSharePpm: entry.revenue_share,
		pricingModel: entry.pricing_model,
		cashbackEnabled: entry.cashback_enabled,
		salesDataEnabled: entry.sales_data_enabled,
		campaignIdEnabled: entry.campaign_id_enabled,
		marketplaceTag: entry.marketplace_tag,
		callbackUrl: entry.callback_url,
		blockedBrands: JSON.stringify(entry.blocked_brands.map(({ domain, country }) => (country === null ? { domain } : { domain, country }))),
		status: entry.status,
		amendments: entry.amendments,
		bidPayMinutes: entry.bid_pay_minutes,
		privacy: entry.privacy,
		traffic: entry.traffic === null ? null : JSON.stringify(entry.traffic),
		openrtb: entry.openrtb === null ? null : JSON.stringify(entry.openrtb),
		responseProfile: entry.response_profile,
		epcLearning: storeLearning(entry.epc_learning),
	};
}
