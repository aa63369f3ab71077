/** A day is compared in parts, each of some publishers or some campaigns in the order of their ids: a part is one transaction, whatever the day has. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";

/** The publishers or campaigns behind an id: what follows is told when it is read. */
export type Part = { of: "publishers"; after: string } | { of: "campaigns"; after: number };

/** Publishers whose ids are greater than `after`, up to `upTo`; null where there are no more. */
export type PublisherPage = { after: string; upTo: string | null };

export const FIRST_PART: Part = { of: "publishers", after: "" };

/** What a part has at the most. Clicks and conversions beyond it are read only where one publisher has them. */
export type PartLimits = {
	/** Publishers. */
	publishers: number;
	/** Clicks and conversions of publishers: a few seconds at the most, where each is on a page of the disk of its own. */
	rows: number;
	/** Campaigns, whose sums are in memory. */
	campaigns: number;
	/** Clicks that one statement goes through for their campaigns. */
	clicksAStatement: number;
};

export const PART_LIMITS: PartLimits = { publishers: 1_000, rows: 30_000, campaigns: 20_000, clicksAStatement: 100_000 };

/** As a cursor: `publishers` or `campaigns`, and the id behind which it begins, if there is one. */
export function writePart({ of, after }: Part): string {
	return after === "" || after === 0 ? of : `${of} ${after}`;
}

/** @returns null where the text is none of {@link writePart} */
export function readPart(text: string): Part | null {
	const [, of, after = ""] = /^(publishers|campaigns)(?: (.+))?$/s.exec(text) ?? [];
	if (of === "publishers") return { of, after };
	return of === "campaigns" && /^\d{0,15}$/.test(after) ? { of, after: Number(after) } : null;
}

/** The publishers of a page, as a table `p` of their ids alone. */
export function pageOf({ after, upTo }: PublisherPage): SQL {
	const end = upTo === null ? sql`` : sql` AND p.id <= ${upTo}`;
	return sql`(SELECT p.id FROM publishers p WHERE p.id > ${after}${end}) p`;
}

/** The next publishers: as many as have a bounded number of clicks and conversions on the day, by the counters. At least one. */
export async function nextPublishers(db: Database, day: string, after: string, limits: PartLimits): Promise<PublisherPage> {
	const next = sql`SELECT id FROM publishers WHERE id > ${after} ORDER BY id LIMIT ${limits.publishers}`;
	const results = await runTransaction(db, [
		next,
		sql`SELECT n.publisher_id AS id, SUM(n.click_count + n.approved_count + n.pending_count + n.cancelled_count) AS count
			FROM (${next}) p CROSS JOIN daily_network n WHERE n.publisher_id = p.id AND n.date = ${day} GROUP BY n.publisher_id`,
	]);
	const ids = (results[0]?.results ?? []) as { id: string }[];
	const counts = new Map(((results[1]?.results ?? []) as { id: string; count: number }[]).map(({ id, count }) => [id, count]));
	let rows = 0;
	let upTo: string | null = null;
	for (const { id } of ids) {
		rows += counts.get(id) ?? 0;
		if (upTo !== null && rows > limits.rows) return { after, upTo };
		upTo = id;
	}
	return { after, upTo: ids.length < limits.publishers ? null : upTo };
}
