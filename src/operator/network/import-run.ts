/** One import while it is read: what it stages, finds wrong, and changes. */
import type { Database } from "../../db/client.ts";
import type { exchangeRates } from "../../db/schema/platforms.ts";
import type { Fault } from "../../http/errors.ts";
import { type AuditedChange, auditedChange } from "./audit-import.ts";
import { type ChangeRecord, Difference } from "./difference.ts";
import { type FileEntry, SECRET_FIELDS, type Stored, sameValue } from "./export-entry.ts";
import { FileIndex } from "./file-index.ts";
import type { ImportReport } from "./import-answer.ts";
import { Listed } from "./listed.ts";
import type { PlatformEntry, PublisherEntry, SectionName } from "./network-file.ts";
import type { Placed } from "./stage-credentials.ts";
import type { RowStage } from "./stage-rows.ts";
import { hasBrands, StoredOwners } from "./stored-entries.ts";
import { describeUnknown, type UnknownField } from "./unknown-fields.ts";

/** Changed entries of a section that the audit has a row of. */
const MAX_AUDITED = 1_000;
/** Domains of products that are looked up, to warn of those that are no brand's. */
const MAX_PRODUCT_DOMAINS = 10_000;
/** Characters of changes that are stored as one row. */
const MAX_CHANGES_CHARACTERS = 200_000;

/** What is set of the network itself, which are no lists. */
export const SETTING_NAMES = ["traffic", "epc_learning"] as const;
export type SettingName = (typeof SETTING_NAMES)[number];
/** All of them are one entry: an object of those that are given. */
export const SETTINGS = "settings";

/** What an undo knows of an entry beside its fields. */
type Undoing = {
	/** Fields as they must be now: as the import that is undone left them. */
	expected: FileEntry;
	/** Of a brand: those of its campaigns that were changed, with theirs; null for those that must not be there. */
	campaigns: ReadonlyMap<number, FileEntry | null>;
	/** Of a brand: campaigns that were new, each with the fields that were changed since, as they were before that. */
	removed: ReadonlyMap<number, FileEntry>;
};

/** An entry as a file, a PATCH or an undo gives it. */
export type Given = { section: SectionName | typeof SETTINGS; value: unknown; path: string; undoing?: Undoing };

export type RunOptions = {
	/** Campaigns that a brand's list does not name are removed. */
	isComplete: boolean;
	/** Unknown fields are faults. */
	isStrict: boolean;
	/** Stored owners may be given other keys, ids and identities: an admin's. */
	mayReplaceKeys: boolean;
	/** What it gives was stored before. */
	isUndo: boolean;
	/** When it began. */
	startedAt: number;
};

/** A rate that may be warned of, and where. */
export type ToldRate = {
	rate: Stored<typeof exchangeRates>;
	path: string;
	before: Stored<typeof exchangeRates> | undefined;
	message?: string | undefined;
};

export type Stages = { network: RowStage; products: RowStage };

/** What an undo would overwrite. */
export type Overwritten = { section: string; id: string; field: string };

export class ImportRun {
	readonly db: Database;
	readonly products: Database;
	readonly stages: Stages;
	readonly options: RunOptions;
	readonly owners: StoredOwners;
	readonly index = new FileIndex();
	readonly difference = new Difference();
	readonly counts: ImportReport["counts"] = {
		platforms: 0,
		publishers: 0,
		brands: 0,
		campaigns: 0,
		exchange_rates: 0,
		products: 0,
		seller_products: 0,
	};
	/** Credentials that were made up. */
	readonly issued: ImportReport["issued"] = [];
	readonly platforms: Placed<PlatformEntry>[] = [];
	readonly publishers: Placed<PublisherEntry>[] = [];
	/** The first domains of products, each with where it stands first. */
	readonly productDomains = new Map<string, string>();
	/** Of each currency the newest rate of those parts of the file that are taken. */
	readonly newestRates = new Map<string, Stored<typeof exchangeRates>>();
	/** Of each currency the oldest of them, where it changes: what is odd about it so far, and the last stored one before it. */
	readonly oldestRates = new Map<string, ToldRate>();
	readonly faults = new Listed<Fault>();
	readonly warnings = new Listed<Fault>();
	readonly overwritten: Overwritten[] = [];
	/** The first changes of each section, for the audit: what publishers are paid is not to hide behind many prices. */
	readonly audited: AuditedChange[] = [];
	readonly #auditedOf = new Map<ChangeRecord["section"], number>();
	readonly #changes: string[] = [];
	#changesCharacters = 0;
	#hasBrands: Promise<boolean> | undefined;

	constructor(db: Database, products: Database, stages: Stages, options: RunOptions) {
		this.db = db;
		this.products = products;
		this.stages = stages;
		this.options = options;
		this.owners = new StoredOwners(db);
	}

	/** Nothing is staged any more once there was a fault. */
	get isSound(): boolean {
		return this.faults.count === 0;
	}

	hasBrands(): Promise<boolean> {
		this.#hasBrands ??= hasBrands(this.db);
		return this.#hasBrands;
	}

	note(faults: readonly Fault[]): void {
		for (const fault of faults) this.faults.add(fault);
	}

	warn(warnings: readonly Fault[]): void {
		for (const warning of warnings) this.warnings.add(warning);
	}

	noteProductDomain(domain: string, path: string): void {
		if (this.productDomains.size < MAX_PRODUCT_DOMAINS && !this.productDomains.has(domain)) this.productDomains.set(domain, path);
	}

	/** To find what was meant takes time: only those that are listed are described. */
	noteUnknown(fields: readonly UnknownField[]): void {
		for (const field of fields) {
			if (this.options.isStrict) this.faults.addMade(() => describeUnknown(field, ""));
			else this.warnings.addMade(() => describeUnknown(field));
		}
	}

	/** Notes what an undo would overwrite of what came later. @param present null where there is no such entry */
	expect(section: string, id: string, expected: FileEntry | null, present: FileEntry | null): void {
		if (expected === null || present === null) {
			if (expected !== present) this.overwritten.push({ section, id, field: "" });
			return;
		}
		for (const [field, value] of Object.entries(expected)) {
			if (!sameValue(present[field], value)) this.overwritten.push({ section, id, field });
		}
	}

	/** Keeps a change for an undo, and for those who have read the entry before. Null changes nothing. */
	async record(change: ChangeRecord | null): Promise<void> {
		if (change === null) return;
		const count = this.#auditedOf.get(change.section) ?? 0;
		if (count < MAX_AUDITED) this.audited.push(auditedChange(change));
		this.#auditedOf.set(change.section, count + 1);
		const text = JSON.stringify({
			...change,
			before: withoutKeys(change.before),
			...("after" in change && { after: withoutKeys(change.after) }),
		});
		// A large one is a row of its own.
		if (this.#changesCharacters + text.length > MAX_CHANGES_CHARACTERS) await this.flushChanges();
		this.#changes.push(text);
		this.#changesCharacters += text.length;
		if (this.#changesCharacters >= MAX_CHANGES_CHARACTERS) await this.flushChanges(`${change.section} ${change.id}`);
	}

	/** @param last whose change is the last of them */
	async flushChanges(last?: string): Promise<void> {
		if (this.#changes.length === 0) return;
		await this.stages.network.add("changes", { entries: `[${this.#changes.join(",")}]` }, last);
		this.#changes.length = 0;
		this.#changesCharacters = 0;
	}
}

/** Keys are stored as hashes alone: there is nothing of them to go back to. */
function withoutKeys(fields: FileEntry | null | undefined): FileEntry | null {
	if (fields === null || fields === undefined) return null;
	return Object.fromEntries(Object.entries(fields).filter(([field]) => field === "postback_secret" || !SECRET_FIELDS.has(field)));
}
