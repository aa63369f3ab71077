/** What an entry of the network file stops, and the statements that keep since when. */
import { type SQL, sql } from "drizzle-orm";
import type { stops } from "../../db/schema/settings.ts";
import { brandSubject, campaignSubject, publisherSubject } from "../../lib/stop-subject.ts";
import type { BrandEntry, CampaignEntry, PublisherEntry } from "./network-file.ts";

type StopRow = Omit<typeof stops.$inferInsert, "since">;

type Stopping = Pick<BrandEntry, "domain" | "active" | "blocked_countries"> & {
	campaigns: readonly Pick<CampaignEntry, "campaign_id" | "active">[];
};

export function stopsOfBrand({ domain, active, blocked_countries, campaigns }: Stopping): StopRow[] {
	const subject = brandSubject(domain);
	const rows: StopRow[] = active ? [] : [{ subject, domain: "", reason: "brand_stopped", country: "" }];
	for (const country of blocked_countries) rows.push({ subject, domain: "", reason: "blocked", country });
	for (const { campaign_id, active: isActive } of campaigns) {
		if (!isActive) rows.push({ subject: campaignSubject(campaign_id), domain: "", reason: "campaign_stopped", country: "" });
	}
	return rows;
}

export function stopsOfPublisher({ id, blocked_brands }: PublisherEntry, isSuspended: boolean): StopRow[] {
	const subject = publisherSubject(id);
	const rows: StopRow[] = isSuspended ? [{ subject, domain: "", reason: "publisher_suspended", country: "" }] : [];
	for (const { domain, country } of blocked_brands) rows.push({ subject, domain, reason: "blocked", country: country ?? "" });
	return rows;
}

/**
 * What the staged entries stop holds from now on, or since when it held before; what they no longer stop is forgotten. Campaigns that
 * their brand no longer has stop too. Runs before campaigns are replaced, since it compares them with the staged ones.
 * @param present the ids of the staged brands
 * @param now     the time of this transaction, Unix milliseconds: a click of before is paid
 */
export function replaceStops(importId: string, present: SQL, now: number): SQL[] {
	const staged = (section: string) => sql`FROM import_rows WHERE import_id = ${importId} AND section = ${section}`;
	const stagedIds = sql`SELECT CAST(row ->> 'campaignId' AS BIGINT) ${staged("campaigns")}`;
	const stagedStop = sql`row ->> 'subject', row ->> 'domain', row ->> 'reason'`;
	return [
		sql`INSERT INTO stops (subject, domain, reason, country, since)
			SELECT 'campaign ' || campaign_id, '', 'campaign_stopped', '', CAST(${now} AS BIGINT) FROM (
				SELECT campaign_id FROM campaigns WHERE brand_id IN (${present}) EXCEPT ${stagedIds}) gone
			WHERE true ON CONFLICT DO NOTHING`,
		// A block of one country that was a block everywhere holds since then.
		sql`INSERT INTO stops (subject, domain, reason, country, since)
			SELECT ${stagedStop}, row ->> 'country', coalesce((SELECT s.since FROM stops s
				WHERE s.subject = row ->> 'subject' AND s.domain = row ->> 'domain' AND s.reason = row ->> 'reason' AND s.country = ''),
				CAST(${now} AS BIGINT))
			${staged("stops")} ORDER BY seq ON CONFLICT DO NOTHING`,
		// A block everywhere leaves those of its countries: they held before it.
		// From a subquery of one name: SQLite goes through all stops where what it compares several columns with is a compound.
		sql`DELETE FROM stops WHERE (subject, domain, reason, country) IN (SELECT subject, domain, reason, country FROM (
			SELECT s.subject, s.domain, s.reason, s.country FROM stops s WHERE s.subject IN (
				SELECT 'publisher ' || (row ->> 'id') ${staged("publishers")}
				UNION ALL SELECT 'brand ' || (row ->> 'domain') ${staged("brands")}
				UNION ALL SELECT 'campaign ' || (row ->> 'campaignId') ${staged("campaigns")})
			EXCEPT SELECT ${stagedStop}, row ->> 'country' ${staged("stops")}
			EXCEPT SELECT s.subject, s.domain, s.reason, s.country FROM stops s WHERE (s.subject, s.domain, s.reason) IN (
				SELECT ${stagedStop} ${staged("stops")} AND row ->> 'country' = '')) gone)`,
	];
}
