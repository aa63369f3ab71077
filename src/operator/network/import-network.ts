/** POST /operator/network: takes over a network file, all of it or nothing. */
import type { PublishResult } from "../../campaign-book/publisher/publish.ts";
import type { Database } from "../../db/client.ts";
import { publishers } from "../../db/schema/publishers.ts";
import { type Fault, invalidInput } from "../../http/errors.ts";
import { CALLBACK_MACROS, findCallbackUrlFault, macrosOf, replacedCallbackParameters } from "../../lib/callback-url.ts";
import { logError } from "../../lib/log.ts";
import { checkAgainstStored, checkPlatforms, warnOfBlocks } from "./check-stored.ts";
import { commitNetwork, commitProducts } from "./commit-import.ts";
import type { ImportReport } from "./import-answer.ts";
import {
	type Entries,
	type ExchangeRateEntry,
	type PlatformEntry,
	type PublisherEntry,
	SECTIONS,
	type SectionName,
} from "./network-file.ts";
import { readEntry, readTraffic } from "./read-entry.ts";
import { JsonStreamError, readJsonSections } from "./read-json-stream.ts";
import { identifyPublishers, type Placed, stageKeys } from "./stage-credentials.ts";
import {
	checkBrand,
	claimKey,
	type FileIndex,
	newFileIndex,
	stageBrand,
	warnOfBrand,
	writeProduct,
	writeSellerProduct,
} from "./stage-entries.ts";
import { openStage, type RowStage } from "./stage-rows.ts";
import { stopsOfPublisher } from "./stage-stops.ts";
import { describeUnknown, suggest, type UnknownField, unknownFields } from "./unknown-fields.ts";

export type ImportDeps = {
	db: Database;
	products: Database;
	/** Publishes the campaign book and lets this isolate's readers have it. */
	publish: () => Promise<PublishResult>;
	now: () => number;
	/** Takes callback addresses that are not https or not public. */
	allowInsecureCallbacks: boolean;
};

/** Faults and warnings that an answer lists; beyond, they are only counted. */
const MAX_LISTED = 100;

/**
 * Imports a network file: upsert by natural key. A section that is absent leaves what is stored untouched; a brand that is
 * present has its campaigns replaced as a whole. The book is published before this returns.
 * @throws HttpError 422 where the file has faults; nothing has changed then
 */
export async function importNetwork(deps: ImportDeps, file: ReadableStream<Uint8Array>): Promise<ImportReport> {
	const now = deps.now();
	const importId = crypto.randomUUID();
	const stages: Stages = { network: openStage(deps.db, importId, now), products: openStage(deps.products, importId, now) };
	let committed = false;
	try {
		const reading = await readFile(stages, file);
		const issued = await stageOwners(deps, stages, reading, now);
		// One after the other: what fails must not leave the other writing behind the clearing up.
		await stages.network.flush();
		await stages.products.flush();
		reading.note(await checkPlatforms(deps.db, reading.index.platformsUsed, new Set(reading.platforms.map(({ entry }) => entry.id))));
		if (reading.faultCount === 0) reading.note(await checkAgainstStored(deps.db, importId));
		reading.warn(await warnOfBlocks(deps.db, importId, reading.publishers));
		if (reading.faultCount > 0) throw invalidInput(reading.faults, reading.faultCount);
		// Products first: without their brands they are not shown, and taking them over again changes nothing. A file without any
		// does not need their database, which may be away while a brand has to be stopped.
		if (stages.products.isUsed()) await commitProducts(deps.products, importId);
		// Read again: what stops now must not be stopped for clicks that were made while the file was read.
		await commitNetwork(deps.db, importId, deps.now());
		committed = true;
		return { ...(await report(deps, reading)), issued };
	} finally {
		if (!committed) await discard(stages);
	}
}

type Stages = { network: RowStage; products: RowStage };

/** Rows that cannot be removed now are removed by a later import; what went wrong before is what is told. */
async function discard({ network, products }: Stages): Promise<void> {
	for (const stage of [network, products]) {
		try {
			await stage.discard();
		} catch (error) {
			logError("import.not_discarded", error);
		}
	}
}

/** What is known of a file while it is read. */
class Reading {
	readonly index: FileIndex = newFileIndex();
	readonly counts: ImportReport["counts"] = {
		platforms: 0,
		publishers: 0,
		brands: 0,
		campaigns: 0,
		exchange_rates: 0,
		products: 0,
		seller_products: 0,
	};
	/** Settings of the network; null where the file has none. */
	traffic: Record<string, unknown> | null = null;
	readonly platforms: Placed<PlatformEntry>[] = [];
	readonly publishers: Placed<PublisherEntry>[] = [];
	readonly faults: Fault[] = [];
	faultCount = 0;
	readonly warnings: Fault[] = [];
	warningCount = 0;

	note(faults: readonly Fault[]): void {
		this.faultCount += faults.length;
		this.faults.push(...faults.slice(0, MAX_LISTED - this.faults.length));
	}

	warn(warnings: readonly Fault[]): void {
		this.warningCount += warnings.length;
		this.warnings.push(...warnings.slice(0, MAX_LISTED - this.warnings.length));
	}

	/** To find what was meant takes time: only those that are listed are described. */
	warnOfUnknown(fields: readonly UnknownField[]): void {
		this.warningCount += fields.length;
		this.warnings.push(...fields.slice(0, MAX_LISTED - this.warnings.length).map(describeUnknown));
	}
}

/** The one part of the file that is no list: it holds for the whole network. */
const SETTINGS = "traffic";
const NOT_A_SECTION = "is not a section of the network file";
const SECTION_NAMES = [...Object.keys(SECTIONS), SETTINGS];

async function readFile(stages: Stages, file: ReadableStream<Uint8Array>): Promise<Reading> {
	const reading = new Reading();
	const unknownSections = new Set<string>();
	try {
		for await (const { section, index, key, value } of readJsonSections(file, [SETTINGS])) {
			if (section === SETTINGS) {
				reading.traffic ??= {};
				if (key !== null) reading.traffic[key] = value;
			} else if (isSection(section)) {
				await readOne(reading, stages, section, value, `${section}[${index}]`);
			} else if (!unknownSections.has(section)) {
				unknownSections.add(section);
				const isListed = reading.warnings.length < MAX_LISTED;
				reading.warn([{ path: section, message: `${NOT_A_SECTION} and was ignored${isListed ? suggest(section, SECTION_NAMES) : ""}` }]);
			}
		}
	} catch (error) {
		if (!(error instanceof JsonStreamError)) throw error;
		const isUnknown = error.path !== "" && error.path !== SETTINGS && !isSection(error.path);
		reading.note([{ path: error.path, message: isUnknown ? `${NOT_A_SECTION}${suggest(error.path, SECTION_NAMES)}` : error.message }]);
	}
	await stageSettings(reading, stages);
	return reading;
}

async function stageSettings(reading: Reading, stages: Stages): Promise<void> {
	if (reading.traffic === null) return;
	const read = readTraffic(reading.traffic, SETTINGS);
	if ("faults" in read) return reading.note(read.faults);
	await stages.network.add("network_settings", { id: 1, traffic: JSON.stringify(read.settings) });
}

function isSection(name: string): name is SectionName {
	return Object.hasOwn(SECTIONS, name);
}

async function readOne(reading: Reading, stages: Stages, section: SectionName, value: unknown, path: string): Promise<void> {
	reading.counts[section]++;
	const read = readEntry(section, value, path);
	if ("faults" in read) return reading.note(read.faults);
	reading.warnOfUnknown(unknownFields(section, value, path));
	await TAKE[section](reading, stages, read.entry as never, path);
}

type Take<Entry> = (reading: Reading, stages: Stages, entry: Entry, path: string) => Promise<void>;

/** What is done with a sound entry of each section. Nothing is staged any more once there was a fault. */
const TAKE: { [Name in SectionName]: Take<Entries[Name]> } = {
	async platforms(reading, _stages, entry, path) {
		reading.note(claimKey(reading.index, "platform", entry.id, `${path}.id`));
		reading.platforms.push({ entry, path });
	},
	async publishers(reading, _stages, entry, path) {
		reading.note(claimKey(reading.index, "publisher", entry.id, `${path}.id`));
		reading.publishers.push({ entry, path });
	},
	async brands(reading, stages, entry, path) {
		reading.counts.campaigns += entry.campaigns.length;
		reading.note(checkBrand(reading.index, entry, path));
		reading.warn(warnOfBrand(entry, path));
		if (reading.faultCount === 0) await stageBrand(stages.network, entry, path);
	},
	async exchange_rates(reading, stages, entry, path) {
		reading.note(claimKey(reading.index, "rate", rateId(entry), path));
		const row = { id: rateId(entry), currency: entry.currency, date: entry.date, usdNanos: entry.usd };
		if (reading.faultCount === 0) await stages.network.add("exchange_rates", row);
	},
	async products(reading, stages, entry, path) {
		reading.note(claimKey(reading.index, "product", entry.id, `${path}.id`));
		if (reading.faultCount === 0) await stages.products.add("products", writeProduct(entry));
	},
	async seller_products(reading, stages, entry, path) {
		reading.note(claimKey(reading.index, "seller product", `${entry.asin} ${entry.seller_id}`, `${path}.asin`));
		if (reading.faultCount === 0) await stages.products.add("seller_products", writeSellerProduct(entry));
	},
};

function rateId({ currency, date }: ExchangeRateEntry): string {
	return `${currency} ${date}`;
}

/** The rules of callback addresses that depend on how this Worker is configured. */
function checkCallbackUrls({ allowInsecureCallbacks }: ImportDeps, reading: Reading): void {
	for (const { entry, path } of reading.publishers) {
		if (entry.callback_url === null) continue;
		const place = `${path}.callback_url`;
		const fault = findCallbackUrlFault(entry.callback_url, { allowInsecure: allowInsecureCallbacks });
		if (fault !== null) reading.note([{ path: place, message: fault }]);
		for (const name of macrosOf(entry.callback_url).unknown) {
			reading.warn([
				{ path: place, message: `{${name}} is no macro of callbacks, and is sent as it is${suggest(name, [...CALLBACK_MACROS])}` },
			]);
		}
		const own = replacedCallbackParameters(entry.callback_url);
		if (own.length > 0) reading.warn([{ path: place, message: `has ${own.join(", ")} of its own, which callbacks replace` }]);
	}
}

/** Stages publishers and platforms with their credentials. */
async function stageOwners(deps: ImportDeps, stages: Stages, reading: Reading, now: number): Promise<ImportReport["issued"]> {
	checkCallbackUrls(deps, reading);
	const identified = await identifyPublishers(deps.db, reading.publishers);
	reading.note(identified.faults);
	reading.warn(identified.warnings);
	const keys = await stageKeys(deps.db, stages.network, identified.publishers, reading.platforms, now);
	reading.note(keys.faults);
	reading.warn(keys.warnings);
	for (const { entry } of reading.platforms) {
		await stages.network.add("platforms", {
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
		});
	}
	const statuses = new Map(
		(await deps.db.select({ id: publishers.id, status: publishers.status }).from(publishers)).map(({ id, status }) => [id, status]),
	);
	for (const { entry } of identified.publishers) {
		// No import that says nothing of it brings a suspended publisher back.
		const status = entry.status ?? statuses.get(entry.id) ?? "active";
		for (const row of stopsOfPublisher(entry, status === "suspended")) await stages.network.add("stops", row);
		await stages.network.add("publishers", {
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
			blockedBrands: JSON.stringify(
				entry.blocked_brands.map(({ domain, country }) => (country === null ? { domain } : { domain, country })),
			),
			status,
			amendments: entry.amendments,
			bidPayMinutes: entry.bid_pay_minutes,
			traffic: entry.traffic === null ? null : JSON.stringify(entry.traffic),
		});
	}
	return [...identified.issued, ...keys.issued];
}

async function report(deps: ImportDeps, reading: Reading): Promise<Omit<ImportReport, "issued">> {
	let book: ImportReport["book"];
	try {
		const published = await deps.publish();
		book = { version: published.version, complete: published.complete, shards_written: published.shardsWritten };
		if (!published.complete)
			reading.warn([{ path: "", message: "the campaign book is too large for one run: the rest is published within minutes" }]);
	} catch (error) {
		// The import itself is done and marked for publishing; the cron publishes it.
		logError("import.publish_failed", error);
		book = { version: null, complete: false, shards_written: 0 };
		reading.warn([{ path: "", message: "the campaign book could not be published now; it is tried again every minute" }]);
	}
	return { counts: reading.counts, book, warnings: reading.warnings, warning_count: reading.warningCount };
}
