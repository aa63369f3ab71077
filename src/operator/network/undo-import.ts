/** POST /operator/network/undo: an import that gives the entries of another the fields that they had before it. */
import { sql } from "drizzle-orm";
import * as v from "valibot";
import type { Database } from "../../db/client.ts";
import { invalidInput } from "../../http/errors.ts";
import { canonicalCountry } from "../../lib/country.ts";
import type { NetworkChangeKind } from "../../lib/enums.ts";
import { DAY_MS } from "../../lib/time.ts";
import { UNDO_DAYS } from "../../retention/kept-for.ts";
import type { ChangeRecord } from "./difference.ts";
import type { FileEntry } from "./export-entry.ts";
import type { ImportReport } from "./import-answer.ts";
import { type ImportDeps, type ImportOptions, importEntries } from "./import-network.ts";
import { type Given, type ImportRun, SETTINGS } from "./import-run.ts";
import { campaignSchema } from "./network-file.ts";

export const undoSchema = v.strictObject({
	import: v.pipe(v.string("must be the id of an import"), v.nonEmpty("must be the id of an import")),
});

/** Parts of an import's changes that are read at once; each has some hundreds of entries. */
const PAGE = 5;

/**
 * Undoes an import: fields that it changed, and campaigns that it removed, are as they were; campaigns that it added to a brand that was
 * there are removed, brands that it added are stopped, with their campaigns, and publishers that it added suspended. Keys stay.
 * @throws HttpError 422 where there is no such import, or it is too old; 409 where others have changed the same since, unless it is
 * confirmed; and as imports do
 */
export async function undoImport(
	deps: ImportDeps,
	{ import: id }: v.InferOutput<typeof undoSchema>,
	options: ImportOptions,
): Promise<ImportReport> {
	const [undone] = await deps.db.all<{ version: number; kind: NetworkChangeKind; undoneBy: string | null }>(
		sql`SELECT version, kind, (SELECT u.id FROM network_versions u WHERE u.undoes = v.id ORDER BY u.version DESC LIMIT 1) AS "undoneBy"
			FROM network_versions v WHERE id = ${id}`,
	);
	// The network's last version stays for good, without what would undo it.
	if (undone === undefined || undone.version < deps.now() - UNDO_DAYS * DAY_MS)
		throw invalidInput([{ path: "import", message: `is no import of the last ${UNDO_DAYS} days` }]);
	if (undone.kind === "names") throw invalidInput([{ path: "import", message: "is a rotation: rotate again" }]);
	const read = (run: ImportRun) => readUndone(deps.db, run, undone.version);
	const source = { kind: "undo", verb: "undoImport", isStrict: false, read, fileHash: () => null, undoes: id } as const;
	return importEntries(deps, { ...source, undoneBy: undone.undoneBy ?? undefined }, options);
}

async function* readUndone(db: Database, run: ImportRun, version: number): AsyncGenerator<Given> {
	const added = await readAdded(db, version);
	let brand: { domain: string; own: ChangeRecord | null; campaigns: ChangeRecord[] } | null = null;
	for await (const change of readChanges(db, version)) {
		const domain = change.section === "brands" ? change.id : change.section === "campaigns" ? change.brand : undefined;
		if (brand !== null && brand.domain !== domain) {
			yield* brandOf(run, brand.domain, brand.own, brand.campaigns, added);
			brand = null;
		}
		if (domain === undefined) yield* entryOf(run, change);
		else {
			brand ??= { domain, own: null, campaigns: [] };
			if (change.section === "brands") brand.own = change;
			else brand.campaigns.push(change);
		}
	}
	if (brand !== null) yield* brandOf(run, brand.domain, brand.own, brand.campaigns, added);
}

/** Campaigns that a version added to brands that were there, by id: those of their fields that later versions changed, as they were before. */
async function readAdded(db: Database, version: number): Promise<ReadonlyMap<string, FileEntry>> {
	const added = new Map<string, FileEntry>();
	let newBrand: string | undefined;
	for await (const { section, id, brand, before } of readChanges(db, version)) {
		// A brand stands before its campaigns.
		if (section === "brands") newBrand = before === null ? id : undefined;
		else if (section === "campaigns" && before === null && brand !== newBrand) added.set(id, {});
	}
	if (added.size === 0) return added;
	for await (const { section, id, before } of readChanges(db, version + 1, Number.MAX_SAFE_INTEGER)) {
		const known = section === "campaigns" ? added.get(id) : undefined;
		// The first that changed a field says what it was.
		if (known !== undefined) added.set(id, { ...before, ...known });
	}
	return added;
}

/** What versions of the network changed, in the order in which it was read. @param last of these versions */
export async function* readChanges(db: Database, first: number, last = first): AsyncGenerator<ChangeRecord> {
	let after = { version: first, seq: -1 };
	for (;;) {
		const parts = await db.all<{ version: number; seq: number; entries: string }>(
			sql`SELECT version, seq, entries FROM network_changes WHERE version <= CAST(${last} AS BIGINT)
				AND (version, seq) > (CAST(${after.version} AS BIGINT), CAST(${after.seq} AS BIGINT)) ORDER BY version, seq LIMIT ${PAGE}`,
		);
		for (const { entries } of parts) yield* JSON.parse(entries, inCodesOfNow) as ChangeRecord[];
		if (parts.length < PAGE) return;
		after = parts.at(-1) ?? after;
	}
}

/** Earlier versions kept countries as they were written; a migration has made what is stored of them canonical. */
function inCodesOfNow(field: string, value: unknown): unknown {
	if (field === "country" && typeof value === "string") return canonicalCountry(value);
	if (field === "blocked_countries" && Array.isArray(value)) return (value as string[]).map(canonicalCountry);
	return value;
}

const NOTHING: ReadonlyMap<number, never> = new Map<number, never>();

/** What had no fields before is new, and cannot be removed: clicks and conversions are of it. */
function* entryOf(run: ImportRun, { section, id, before, after }: ChangeRecord): Generator<Given> {
	const path = `${section} ${id}`;
	const undoing = { expected: after ?? {}, campaigns: NOTHING, removed: NOTHING };
	if (section === "traffic" || section === "epc_learning") {
		yield { section: SETTINGS, value: { [section]: before?.[section] ?? null }, path, undoing };
		return;
	}
	if (section === "brands" || section === "campaigns") return;
	if (before !== null) yield { section, value: { ...keyOf(section, id), ...before }, path, undoing };
	else if (section === "publishers") {
		run.warn([{ path, message: "was new: it is suspended, and stays" }]);
		yield { section, value: { id, status: "suspended" }, path };
	} else run.warn([{ path, message: "was new: it stays" }]);
}

function keyOf(section: ChangeRecord["section"], id: string): Record<string, string> {
	const [first = "", second = ""] = id.split(" ");
	if (section === "exchange_rates") return { currency: first, date: second };
	return section === "seller_products" ? { asin: first, seller_id: id.slice(first.length + 1) } : { id };
}

/** Of a removed one the fields are known that were not the default: nothing may show through them. */
function campaignOf({ id, before, after }: ChangeRecord): Record<string, unknown> {
	const defaults = after === null ? Object.entries(campaignSchema.entries).filter(([, schema]) => "default" in schema) : [];
	return { ...Object.fromEntries(defaults.map(([field]) => [field, null])), ...before, campaign_id: Number(id) };
}

function* brandOf(
	run: ImportRun,
	domain: string,
	own: ChangeRecord | null,
	changes: readonly ChangeRecord[],
	added: ReadonlyMap<string, FileEntry>,
): Generator<Given> {
	const path = `brands ${domain}`;
	if (own?.before === null) {
		run.warn([{ path, message: "was new: it is stopped, and stays with its campaigns" }]);
		yield { section: "brands", value: { domain, active: false }, path };
		return;
	}
	const known = changes.filter(({ before }) => before !== null);
	yield {
		section: "brands",
		value: {
			...own?.before,
			domain,
			...(known.length > 0 && { campaigns: known.map(campaignOf) }),
		},
		path,
		undoing: {
			expected: own?.after ?? {},
			campaigns: new Map(known.map(({ id, after }) => [Number(id), after ?? null])),
			removed: new Map(changes.filter(({ before }) => before === null).map(({ id }) => [Number(id), added.get(id) ?? {}])),
		},
	};
}
