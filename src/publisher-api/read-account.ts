/** GET /api/account: the publisher as it is set up now. */
import { sql } from "drizzle-orm";
import { BID_PAY_MS } from "../campaign-book/book.ts";
import { type Database, runTransaction } from "../db/client.ts";
import type { StoredRow } from "../db/json-rows.ts";
import type { accessKeys, publisherNames, publishers } from "../db/schema/publishers.ts";
import { maskCallbackUrl } from "../lib/mask-url.ts";
import { SHARE_SCALE } from "../lib/money.ts";
import { isoTime, isoTimeOrNull, MINUTE_MS } from "../lib/time.ts";
import type { Account } from "./account-answer.ts";

type HealthRow = { url: string; failures_in_a_row: number; paused_at: number | null };

/** Null where the publisher is no more. */
export async function readAccount(db: Database, publisherId: string, now: number): Promise<Account | null> {
	const results = await runTransaction(db, [
		sql`SELECT * FROM publishers WHERE id = ${publisherId}`,
		sql`SELECT kind, value, expires_at FROM publisher_names WHERE publisher_id = ${publisherId} AND (expires_at IS NULL OR expires_at > ${now})
			ORDER BY kind, CASE WHEN expires_at IS NULL THEN 0 ELSE 1 END, expires_at DESC, value`,
		sql`SELECT kind, created_at, expires_at, last_used_on FROM access_keys
			WHERE kind IN ('access_key', 'publisher_key') AND owner_id = ${publisherId} AND (expires_at IS NULL OR expires_at > ${now})
			ORDER BY kind, created_at, hash`,
		sql`SELECT url, failures_in_a_row, paused_at FROM callback_health WHERE publisher_id = ${publisherId}`,
	]);
	const rows = <Row>(at: number) => (results[at]?.results ?? []) as Row[];
	const [publisher] = rows<StoredRow<typeof publishers>>(0);
	if (publisher === undefined) return null;
	return {
		id: publisher.id,
		name: publisher.name,
		status: publisher.status,
		pricing_model: publisher.pricing_model,
		...(publisher.pricing_model === "CPA" && { revenue_share: publisher.revenue_share_ppm / SHARE_SCALE }),
		bid_pay_minutes: publisher.bid_pay_minutes ?? BID_PAY_MS / MINUTE_MS,
		names: rows<StoredRow<typeof publisherNames>>(1).map(({ kind, value, expires_at }) => ({
			kind,
			value,
			expires_at: isoTimeOrNull(expires_at),
		})),
		keys: rows<StoredRow<typeof accessKeys>>(2).flatMap(({ kind, created_at, expires_at, last_used_on }) =>
			kind !== "access_key" && kind !== "publisher_key"
				? []
				: [{ kind, created_at: isoTime(created_at), expires_at: isoTimeOrNull(expires_at), last_used_on }],
		),
		endpoints: { openrtb: publisher.openrtb_enabled === 1, serving_engine: publisher.serving_engine_enabled === 1 },
		seat: publisher.seat,
		marketplace_tag: publisher.marketplace_tag,
		permissions: {
			flat_fees: publisher.cashback_enabled === 1,
			sales_amounts: publisher.sales_data_enabled === 1,
			campaign_ids: publisher.campaign_id_enabled === 1,
		},
		callback: showCallback(publisher, rows<HealthRow>(3)[0]),
	};
}

/** What is known of another address than the present one says nothing of this. */
function showCallback({ callback_url: url, amendments }: StoredRow<typeof publishers>, health: HealthRow | undefined): Account["callback"] {
	if (url === null) return null;
	const known = health?.url === url ? health : undefined;
	return {
		url: maskCallbackUrl(url),
		amendments,
		failures_in_a_row: known?.failures_in_a_row ?? 0,
		paused_since: isoTimeOrNull(known?.paused_at ?? null),
	};
}
