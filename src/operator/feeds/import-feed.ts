/** POST /operator/products and /operator/seller-products: takes over a product feed, batch by batch. */
import type { Database } from "../../db/client.ts";
import { findBrandDomains } from "../../db/find-brands.ts";
import type { Actor } from "../../http/actor.ts";
import { isWithin } from "../../lib/host.ts";
import type { ProductEntry, SellerProductEntry } from "../network/network-file.ts";
import { writeProduct, writeSellerProduct } from "../network/stage-entries.ts";
import { type FeedAudit, openFeedAudit } from "./audit-feed.ts";
import { CUT_OFF, type FeedReport } from "./feed-answer.ts";
import { type FeedKind, planColumns, REQUIRED_FIELDS } from "./feed-columns.ts";
import type { FeedOptions } from "./feed-options.ts";
import { EmptyFeedError, FeedError, readFeedRecords } from "./feed-text.ts";
import { type FeedEntry, type Rejected, readFeedRecord } from "./read-feed-record.ts";
import { beginFeed, type FeedWriter, feedWriter, removeOthers } from "./write-feed.ts";

export type FeedDeps = {
	/** The network: which brand a host belongs to. */
	db: Database;
	products: Database;
	now: () => number;
};

const MAX_REJECTED_LISTED = 100;
const MAX_DOMAINS_LISTED = 20;
const BATCH_ROWS = 1_000;
/** What stands for bytes that are no character. */
const REPLACED = "\ufffd";
/** Hosts whose brand is remembered while a feed is read. */
const MAX_HOSTS = 10_000;

/**
 * Takes over a feed: upsert by id, in batches, so that its size costs no memory. A record at fault is rejected alone. What is
 * taken over stays even where the feed cannot be read to its end; the same feed may be sent again. A dry run reads it all, and writes nothing.
 */
export async function importFeed(
	deps: FeedDeps,
	actor: Actor,
	kind: FeedKind,
	options: FeedOptions,
	stream: ReadableStream<Uint8Array>,
): Promise<FeedReport> {
	const audit = openFeedAudit({ ...deps, actor }, kind, options);
	const report = await takeOver(deps, audit, kind, options, stream);
	await audit.end(report);
	return report;
}

async function takeOver(
	deps: FeedDeps,
	audit: FeedAudit,
	kind: FeedKind,
	options: FeedOptions,
	stream: ReadableStream<Uint8Array>,
): Promise<FeedReport> {
	const { feed, replace, line, encoding, mapping, idPrefix, constants, isDryRun, isConfirmed } = options;
	const feedId = feed ?? (replace === null ? null : crypto.randomUUID());
	const beganAt = feedId === null || isDryRun ? deps.now() : await beginFeed(deps.products, feedId, deps.now());
	const write = feedWriter(deps, kind, feedId, isDryRun);
	const taking = new Taking(deps.db, kind, async (rows) => {
		if (rows.length === 0) return [];
		if (!isDryRun) await audit.begin();
		return write(rows);
	});
	const plan = planColumns(kind, mapping);
	const recordOptions = { kind, plan, constants, idPrefix, now: deps.now() };
	const onColumns = (names: readonly string[], columns: ReadonlySet<string>) => {
		const missing = REQUIRED_FIELDS[kind].filter(
			(field) => !constants.has(field) && !plan.get(field)?.some((column) => columns.has(column)),
		);
		if (missing.length > 0) throw new FeedError(describeMissing(missing, names));
	};
	let broken: FeedError | null = null;
	const cutOff: { line: number | null } = { line: null };
	const onCutOff = (at: number) => {
		cutOff.line = at;
	};
	try {
		for await (const records of readFeedRecords(stream, { line, encoding, onColumns, onCutOff })) {
			for (const record of records) {
				// What is left of a price may look like one.
				const isWhole = record.line !== cutOff.line;
				await taking.take(
					isWhole ? readFeedRecord(record, recordOptions) : { line: record.line, reason: "is cut off: the feed ends within it" },
				);
			}
		}
	} catch (error) {
		if (!(error instanceof FeedError)) throw error;
		// After the parts of a feed, `replace` may come by itself.
		if (!(error instanceof EmptyFeedError && feed !== null && replace !== null)) broken = error;
	}
	await taking.finish();
	const report = { ...taking.report(), feed: feedId ?? "", dry_run: isDryRun, ...(cutOff.line !== null && { cut_off: true as const }) };
	if (broken !== null) return { ...report, removed: null, incomplete: true, message: broken.message };
	if (feedId === null || replace === null || isDryRun) return { ...report, removed: null };
	// A feed that is mostly rejected says little about what there is.
	if (report.rejected > report.accepted) return { ...report, removed: null, message: "Nothing was removed: most records were rejected." };
	if (cutOff.line !== null && !isConfirmed)
		return { ...report, removed: null, message: `Nothing was removed: ${CUT_OFF} by yes=1 (--yes).` };
	await audit.begin();
	const removed = await removeOthers(deps.products, kind, { id: feedId, beganAt, scope: replace }, isConfirmed);
	return typeof removed === "number" ? { ...report, removed } : { ...report, removed: null, message: `Nothing was removed: ${removed}.` };
}

function describeMissing(missing: readonly string[], names: readonly string[]): string {
	return `The feed has no column for ${missing.join(", ")}. Its columns are: ${names.join(", ").slice(0, 1_000)}. Name the columns with a mapping.`;
}

/** Collects accepted entries into batches and writes them, one batch behind the reading. */
class Taking {
	readonly #db: Database;
	readonly #kind: FeedKind;
	readonly #write: FeedWriter;
	readonly #owners = new Map<string, string | null>();
	readonly #unknown = new Set<string>();
	readonly #others = new Map<string, number>();
	#batch: FeedEntry[] = [];
	#writing: Promise<void> = Promise.resolve();
	#accepted = 0;
	#unread: NonNullable<FeedReport["unread_characters"]> | undefined;
	#rejected = 0;
	readonly #listed: Rejected[] = [];

	constructor(db: Database, kind: FeedKind, write: FeedWriter) {
		this.#db = db;
		this.#kind = kind;
		this.#write = write;
	}

	async take(read: FeedEntry | Rejected): Promise<void> {
		if ("reason" in read) return this.#reject(read);
		this.#batch.push(read);
		if (this.#batch.length >= BATCH_ROWS) await this.#flush();
	}

	async finish(): Promise<void> {
		await this.#flush();
		await this.#writing;
		this.#listed.sort((a, b) => a.line - b.line);
	}

	report(): Pick<FeedReport, "accepted" | "rejected" | "rejected_lines" | "unknown_domains" | "other_brands" | "unread_characters"> {
		const others = [...this.#others].slice(0, MAX_DOMAINS_LISTED).map(([domain, products]) => ({ domain, products }));
		return {
			accepted: this.#accepted,
			rejected: this.#rejected,
			rejected_lines: this.#listed.slice(0, MAX_REJECTED_LISTED),
			unknown_domains: [...this.#unknown],
			...(others.length > 0 && { other_brands: others }),
			...(this.#unread !== undefined && { unread_characters: this.#unread }),
		};
	}

	#reject(rejected: Rejected): void {
		this.#rejected++;
		if (this.#listed.length < MAX_REJECTED_LISTED) this.#listed.push(rejected);
	}

	async #flush(): Promise<void> {
		const batch = this.#batch;
		this.#batch = [];
		if (batch.length === 0) return;
		await this.#learnOwners(batch);
		const rows = batch.flatMap((read) => this.#place(read) ?? []);
		this.#accepted += rows.length;
		// One batch at a time: the next is read while this one is written.
		await this.#writing;
		this.#writing = this.#write(rows.map((entry) => rowOf(this.#kind, entry))).then((others) => {
			for (const { domain, products } of others) this.#others.set(domain, (this.#others.get(domain) ?? 0) + products);
		});
		// Awaited by the next batch or at the end; until then nobody handles a failure.
		this.#writing.catch(() => {});
	}

	async #learnOwners(batch: readonly FeedEntry[]): Promise<void> {
		if (this.#owners.size > MAX_HOSTS) this.#owners.clear();
		const hosts = new Set(batch.flatMap(({ entry, host }) => [entry.domain, host]).filter((host) => !this.#owners.has(host)));
		const found = await findBrandDomains(this.#db, hosts);
		for (const host of hosts) this.#owners.set(host, found.get(host) ?? null);
	}

	/** The entry under its brand's own domain; rejected where its page is not the brand's, for the click tracker would not go there. */
	#place({ line, entry, host }: FeedEntry): ProductEntry | SellerProductEntry | null {
		const owner = this.#owners.get(entry.domain) ?? null;
		const domain = owner ?? entry.domain;
		if (this.#owners.get(host) !== domain && !isWithin(host, domain)) {
			this.#reject({ line, reason: `url is on ${host}, which is no host of ${domain}` });
			return null;
		}
		if (owner === null && this.#unknown.size < MAX_DOMAINS_LISTED) this.#unknown.add(domain);
		if (Object.values(entry).some((value) => typeof value === "string" && value.includes(REPLACED))) {
			this.#unread = { products: (this.#unread?.products ?? 0) + 1, line: this.#unread?.line ?? line };
		}
		return { ...entry, domain };
	}
}

function rowOf(kind: FeedKind, entry: ProductEntry | SellerProductEntry) {
	return kind === "products" ? writeProduct(entry as ProductEntry) : writeSellerProduct(entry as SellerProductEntry);
}
