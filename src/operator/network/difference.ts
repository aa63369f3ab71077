/** Collects what an import changes, field by field. What it lists is bounded; what it counts is not. */
import { isObject } from "../../lib/json.ts";
import type { DifferenceAnswer, DifferenceSection, EntryChange, FieldChange } from "./difference-answer.ts";
import { type FileEntry, SECRET_FIELDS, sameValue } from "./export-entry.ts";
import { Listed } from "./listed.ts";
import { Losses } from "./losses.ts";
import { PriceMoves } from "./price-moves.ts";
import { shortenBoth } from "./shorten-change.ts";

const MAX_ENTRIES = 1_000;
const MAX_FIELDS = 5_000;
/** Characters of JSON of a value that is shown whole. */
const MAX_VALUE = 300;

/** What undoing one changed entry needs, and what others are told of it: fields as they were, and as they are since. */
export type ChangeRecord = {
	section: DifferenceSection;
	id: string;
	/** Of a campaign: its brand's domain. */
	brand?: string;
	/** Null for a new entry; of a removed one, all that was not the default. */
	before: FileEntry | null;
	/** Null for a removed entry; absent for a new one. */
	after?: FileEntry | null;
	/** Of a new entry: what of it is not the default. It is read for the audit, and not kept for an undo. */
	added?: () => FileEntry;
};

export class Difference {
	readonly #entries: EntryChange[] = [];
	readonly #losses = new Losses();
	readonly #prices = new PriceMoves();
	readonly #started = new Listed<number>();
	readonly #stopped = new Listed<number>();
	readonly #publishersStarted = new Listed<string>();
	readonly #publishersStopped = new Listed<string>();
	readonly #counts = { added: 0, changed: 0, removed: 0 };
	#fieldCount = 0;
	/** Pairs of a publisher that is bid for and a campaign that bids, which are blocked from now on. */
	blocked = 0;

	/** Campaigns that bid no more. */
	get stops(): number {
		return this.#stopped.count;
	}

	/** Publishers that are bid for no more, or no more by an endpoint or a name. */
	get publisherStops(): number {
		return this.#publishersStopped.count;
	}

	get isEmpty(): boolean {
		const { added, changed, removed } = this.#counts;
		return added + changed + removed === 0;
	}

	/** Of entries and kinds. */
	get counts(): Readonly<Record<"added" | "changed" | "removed", number>> {
		return this.#counts;
	}

	/** @param fields those that are not the default */
	add(section: DifferenceSection, id: string, fields: () => FileEntry, brand?: string): ChangeRecord {
		this.#note("added", section, id, brand, () => Object.entries(fields()).map(([field, after]) => change(field, null, after)));
		return { section, id, ...(brand !== undefined && { brand }), before: null, added: fields };
	}

	/** @param fields those that were not the default */
	remove(section: DifferenceSection, id: string, fields: FileEntry, brand?: string): ChangeRecord {
		this.#note("removed", section, id, brand, () => Object.entries(fields).map(([field, before]) => change(field, before, null)));
		this.#losses.add(section, null, fields, () => ({ section, id, field: null, before: null, after: null }));
		return { section, id, ...(brand !== undefined && { brand }), before: fields, after: null };
	}

	/** Compares all fields of an entry; null where none has changed. */
	compare(section: DifferenceSection, id: string, before: FileEntry, after: FileEntry, brand?: string): ChangeRecord | null {
		const fields = Object.keys(after).filter((field) => !sameValue(before[field], after[field]));
		if (fields.length === 0) return null;
		const changes = fields.map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
		this.#note("changed", section, id, brand, () => changes.map(({ field, before, after }) => change(field, before, after)));
		for (const { field, before: old, after: present } of changes) {
			if (isLoss(field, old, present)) this.#losses.add(section, field, before, () => ({ section, id, ...change(field, old, present) }));
		}
		this.#prices.add(section, id, fields, before, after);
		return {
			section,
			id,
			...(brand !== undefined && { brand }),
			before: pick(before, fields),
			after: pick(after, fields),
		};
	}

	/** A campaign that bids from now on, or in another country. */
	start(campaignId: number): void {
		this.#started.add(campaignId);
	}

	/** A campaign that bids no more, or in another country. */
	stop(campaignId: number): void {
		this.#stopped.add(campaignId);
	}

	/** Compares by which endpoints a publisher is bid for. */
	bidFor(publisherId: string, before: readonly string[], after: readonly string[]): void {
		if (after.some((endpoint) => !before.includes(endpoint))) this.#publishersStarted.add(publisherId);
		if (before.some((endpoint) => !after.includes(endpoint))) this.#publishersStopped.add(publisherId);
	}

	/** Active campaigns of which a price, and publishers of which the share, rises by more than a factor of 2. */
	get raised(): PriceMoves["raised"] {
		return this.#prices.raised;
	}

	answer(): DifferenceAnswer {
		const { added, changed, removed } = this.#counts;
		return {
			added,
			changed,
			removed,
			entries: this.#entries,
			entries_left_out: added + changed + removed - this.#entries.length,
			losses: this.#losses.items,
			loss_count: this.#losses.count,
			bids: {
				starts: this.#started.count,
				stops: this.#stopped.count,
				started: this.#started.items,
				stopped: this.#stopped.items,
				prices: this.#prices.items,
				price_count: this.#prices.count,
				publishers: {
					starts: this.#publishersStarted.count,
					stops: this.#publishersStopped.count,
					started: this.#publishersStarted.items,
					stopped: this.#publishersStopped.items,
				},
				blocked: this.blocked,
			},
		};
	}

	#note(kind: EntryChange["kind"], section: DifferenceSection, id: string, brand: string | undefined, fields: () => FieldChange[]): void {
		this.#counts[kind]++;
		if (this.#entries.length >= MAX_ENTRIES || this.#fieldCount >= MAX_FIELDS) return;
		const shown = fields();
		this.#fieldCount += shown.length;
		this.#entries.push({ section, id, ...(brand !== undefined && { brand }), kind, fields: shown });
	}
}

/** What is told of a change that was kept: of a new entry, that it is there. */
export function changeOf({ section, id, brand, before, after }: ChangeRecord): EntryChange {
	const kind = before === null ? "added" : after === null ? "removed" : "changed";
	const fields = Object.keys(after ?? before ?? {}).map((field) => change(field, before?.[field] ?? null, after?.[field] ?? null));
	return { section, id, ...(brand !== undefined && { brand }), kind, fields };
}

function pick(entry: FileEntry, fields: readonly string[]): FileEntry {
	return Object.fromEntries(fields.map((field) => [field, entry[field] ?? null]));
}

function change(field: string, before: unknown, after: unknown): FieldChange {
	if (!SECRET_FIELDS.has(field)) {
		const [old, present] = shortenBoth(before, after, MAX_VALUE);
		return { field, before: old, after: present };
	}
	const isOther = before !== null && after !== null;
	return { field, before: before === null ? null : "(set)", after: after === null ? null : isOther ? "(another)" : "(set)" };
}

/** Whether something is turned off, cleared or shortened. Restrictions that fall away are not lost: they come as changes. */
function isLoss(field: string, before: unknown, after: unknown): boolean {
	if (before === true) return after !== true;
	if (field === "status") return after === "suspended";
	if (before === null || before === false) return false;
	if (after === null) return true;
	if (Array.isArray(before) && Array.isArray(after)) {
		const left = new Set(after.map((member) => JSON.stringify(member)));
		return before.some((member) => !left.has(JSON.stringify(member)));
	}
	return isObject(before) && isObject(after) && Object.keys(before).some((name) => !Object.hasOwn(after, name));
}
