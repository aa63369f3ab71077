/** How much of what is not paid is stored, and how many sources a day has, as they come to be within a batch. */
import { hashSource } from "../../lib/hash.ts";
import { hourOf } from "../../lib/time.ts";
import { isUnseen, type UnpaidReason } from "../../lib/traffic-rules.ts";
import type { ClickMessage } from "../message.ts";
import { type ClickState, connectionHourKey, type Decided, publisherDayKey, sourceKey } from "./click-state.ts";

/**
 * Sources that a publisher's day may have; what comes beyond them is counted under `other`. Anyone may make up names on a public link: those
 * are let in while a day has few, one that a bid was asked for while it has twice as many, one with a sale on the day before three times.
 */
export const MAX_SOURCES_PER_DAY = 1_000;
export const OTHER_SOURCE = "other";
/** Unpaid clicks of a connection that an hour stores. */
export const MAX_UNPAID_PER_HOUR = 600;

export class UnpaidClicks {
	readonly #unpaid = new Map<string, { connection: string; hour: number; before: number; stored: number; dropped: number }>();
	readonly #unpaidBefore: ReadonlyMap<string, number>;
	readonly #unseenBids = new Set<string>();

	constructor({ unpaidStored }: Pick<ClickState, "unpaidStored">) {
		this.#unpaidBefore = unpaidStored;
	}

	get counted(): Decided["unpaid"] {
		return [...this.#unpaid.values()].map(({ before: _, ...counted }) => counted);
	}

	/**
	 * Counts an unpaid click by its connection's hour; false where that has stored as many as it may. That a bid's URL was called where its
	 * user saw nothing is stored all the same, once a batch: its sale is reviewed for that, or whoever does it would fill the hour first.
	 */
	mayStore({ connection, at, kind, hash }: ClickMessage, reason: UnpaidReason): boolean {
		if (connection === undefined) return true;
		const hour = hourOf(at);
		const key = connectionHourKey(connection, hour);
		const counted = this.#unpaid.get(key) ?? { connection, hour, before: this.#unpaidBefore.get(key) ?? 0, stored: 0, dropped: 0 };
		this.#unpaid.set(key, counted);
		const isNews = kind !== "link" && isUnseen(reason) && !this.#unseenBids.has(hash);
		if (isNews) this.#unseenBids.add(hash);
		const isStored = isNews || counted.before + counted.stored < MAX_UNPAID_PER_HOUR;
		if (isStored) counted.stored++;
		else counted.dropped++;
		return isStored;
	}
}

export class Sources {
	readonly #sourceCounts: Map<string, number>;
	readonly #knownSources: ReadonlySet<string>;
	readonly #soldOnDayBefore: ReadonlySet<string>;
	readonly #metSources = new Set<string>();
	/** Those that are new to their day. */
	readonly added: Decided["newSources"] = [];

	constructor({ sourceCounts, knownSources, soldOnDayBefore }: Pick<ClickState, "sourceCounts" | "knownSources" | "soldOnDayBefore">) {
		this.#sourceCounts = new Map(sourceCounts);
		this.#knownSources = knownSources;
		this.#soldOnDayBefore = soldOnDayBefore;
	}

	/** The source that a paid click counts for. */
	of({ sourceHash }: ClickMessage, publisherId: string, date: string, source: string | null): string | null {
		if (source === null) return null;
		const key = sourceKey(publisherId, date, source);
		if (this.#knownSources.has(key) || this.#metSources.has(key)) return source;
		const dayKey = publisherDayKey(publisherId, date);
		const count = this.#sourceCounts.get(dayKey) ?? 0;
		const isOfBid = sourceHash !== undefined && sourceHash === hashSource(source);
		const shares = this.#soldOnDayBefore.has(key) ? 3 : isOfBid ? 2 : 1;
		if (count >= shares * MAX_SOURCES_PER_DAY) return OTHER_SOURCE;
		this.#metSources.add(key);
		this.#sourceCounts.set(dayKey, count + 1);
		this.added.push({ publisherId, date, sourceCount: 1 });
		return source;
	}
}
