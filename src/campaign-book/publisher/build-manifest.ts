/** What the key of the book holds that is written last: the manifest of shards, or the head of a packed book. */
import { asc, eq, getTableColumns } from "drizzle-orm";
import { bookShards } from "../../db/schema/book.ts";
import { publishers } from "../../db/schema/publishers.ts";
import { networkSettings } from "../../db/schema/settings.ts";
import { readBlockedBrands } from "../../lib/blocked-brands.ts";
import type { OpenRtbOptions } from "../../lib/openrtb-options.ts";
import { writeRelease } from "../../lib/release.ts";
import type { TrafficSettings } from "../../lib/traffic-rules.ts";
import { NO_VERSION } from "../build.ts";
import { BOOK_FORMAT, type Manifest } from "../format.ts";
import type { Head } from "../packed/head.ts";
import type { PublisherWire } from "../wire.ts";
import { isRestrained } from "./bake-prices.ts";
import { buildHead, readNumbers } from "./publish-head.ts";
import type { Budget, WriteDeps } from "./publish-shards.ts";
import { type PublisherParts, publisherParts, selectPublisherParts } from "./read-publisher-parts.ts";
import { selectSpread, writeSpread } from "./read-spread.ts";

export async function buildManifest({ db, now, learning }: WriteDeps, version: number, bits: number, learned: boolean): Promise<Manifest> {
	const versions = new Array<string>(2 ** bits).fill(NO_VERSION);
	const [written, rows, [settings], replaced, ...named] = await db.batch([
		db.select().from(bookShards).where(eq(bookShards.bits, bits)),
		db.select().from(publishers).orderBy(asc(publishers.id)),
		db.select().from(networkSettings),
		selectSpread(db, now()),
		...selectPublisherParts(db, learning),
	]);
	for (const row of written) if (row.version !== "") versions[row.shard] = row.version;
	const own = publisherParts(...named, learning);
	const wires = rows.map((row) => ({ ...writePublisher(row, own), ...blockedOf(row) }));
	const spread = writeSpread(replaced, bits);
	return {
		format: BOOK_FORMAT,
		version,
		publishedAt: now(),
		bits,
		shards: versions.join(""),
		publishers: wires,
		...trafficOf(settings),
		...(learned && { learned: 1 }),
		...(spread !== null && { spread }),
	};
}

/** The head of a packed book: what publishers block stands with the brands. */
export async function buildPacked(
	deps: WriteDeps,
	{ version, bits, touched, learned }: { version: number; bits: number; touched: ReadonlySet<number> | null; learned: boolean },
	budget: Budget,
): Promise<Head> {
	const { blockedBrands: _, ...columns } = getTableColumns(publishers);
	const [rows, [settings], ...named] = await deps.db.batch([
		deps.db.select(columns).from(publishers).orderBy(asc(publishers.id)),
		deps.db.select().from(networkSettings),
		...selectPublisherParts(deps.db, deps.learning),
	]);
	const own = publisherParts(...named, deps.learning);
	const numbers = await readNumbers(deps.db);
	const wires = rows.flatMap((row): PublisherWire[] => {
		const number = numbers.get(row.id);
		// One that came just now gets its number, and its place, with the next publish.
		return number === undefined ? [] : [{ ...writePublisher(row, own), n: number }];
	});
	const parts = { ...trafficOf(settings), ...(learned && { learned: 1 as const }) };
	return buildHead(deps, { version, bits, publishers: wires, parts, touched }, budget);
}

function blockedOf(row: { blockedBrands: string }): Pick<PublisherWire, "blocked"> {
	const blocked: Record<string, string[]> = {};
	for (const { domain, country } of readBlockedBrands(row.blockedBrands)) {
		const countries = blocked[domain];
		// A block without a country holds everywhere: the empty list, which no further country may narrow.
		if (country === undefined) blocked[domain] = [];
		else if (countries === undefined) blocked[domain] = [country];
		else if (countries.length > 0) countries.push(country);
	}
	return Object.keys(blocked).length > 0 ? { blocked } : {};
}

function writePublisher(row: Omit<typeof publishers.$inferSelect, "blockedBrands">, parts: PublisherParts): PublisherWire {
	const isSuspended = row.status === "suspended";
	const former = parts.former.get(row.id) ?? [];
	const released = parts.released.get(row.id);
	const options = row.openrtb === null ? null : (JSON.parse(row.openrtb) as OpenRtbOptions);
	const keys = options?.nbr === true ? parts.keys.get(row.id) : undefined;
	return {
		id: row.id,
		// A suspended publisher gets no bids; its links and the bids it has lead on, and are not paid.
		...(row.servingEngineEnabled && !isSuspended && { pubi: row.publisherId }),
		...(row.openrtbEnabled && !isSuspended && { rtb: row.publisherIdentity }),
		identity: row.publisherIdentity,
		...(row.seat !== null && { seat: row.seat }),
		share: row.revenueSharePpm,
		model: row.pricingModel,
		...(isSuspended && { x: 1 }),
		...(row.bidPayMinutes !== null && { m: row.bidPayMinutes }),
		...(row.privacy !== "strip" && { v: row.privacy }),
		...trafficOf(row),
		...(options !== null && { o: options }),
		...(row.responseProfile === "full" && { f: 1 }),
		...(keys !== undefined && { k: keys }),
		...(isRestrained(row.epcLearning) ? { l: 1 } : released !== undefined && { q: writeRelease(released) }),
		...(former.length > 0 && { former }),
	};
}

function trafficOf(row: { traffic: string | null } | undefined): { traffic?: TrafficSettings } {
	return row === undefined || row.traffic === null ? {} : { traffic: JSON.parse(row.traffic) as TrafficSettings };
}
