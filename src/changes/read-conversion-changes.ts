/** Every change of a publisher's conversions, and of amounts that the network added or took, in the order of their commits (decision 0038). */
import { type SQL, sql } from "drizzle-orm";
import { type Database, runTransaction } from "../db/client.ts";
import type { ConversionChangeReason, ConversionStatus, PricingModel } from "../lib/enums.ts";
import { conversionIdOf, offerIdOf } from "../lib/md5-ids.ts";
import { formatUsd } from "../lib/money.ts";
import { isoTime, isoTimeOrNull, utcDay } from "../lib/time.ts";
import { COUNTED_CONVERSION } from "../reports/counted.ts";
import { creditedOf } from "../reports/credited.ts";
import { atagOf, NO_CLICK, type OfClick, readOfClicks, subidsOf, userIdOf } from "../reports/of-click.ts";
import type { ConversionChange, ConversionChanges } from "./conversion-changes-answer.ts";
import { type ConversionsCursor, goneError, writeFeedCursor } from "./feed-cursor.ts";

export type ConversionChangesQuery = { after?: ConversionsCursor | undefined; limit: number };

/** `platform` and `txnid` of an amount are empty and its id; `source` says where its row stands. */
type Row = {
	sequence: number;
	platform: string;
	txnid: string;
	source: "change" | "present" | "amount";
	changedAt: number;
	why: ConversionChangeReason | null;
	pricingModel: PricingModel | null;
	clickId: string | null;
	click: string | null;
	clickedAt: number | null;
	brand: string | null;
	campaignId: number | null;
	sourceId: string | null;
	/** UTC day of an amount. */
	date: string | null;
	oldStatus: ConversionStatus | null;
	oldEventAt: number | null;
	oldRevenue: number | null;
	oldGross: number | null;
	oldSales: number | null;
	oldCredited: number | null;
	status: ConversionStatus | null;
	eventAt: number | null;
	revenue: number | null;
	gross: number | null;
	sales: number | null;
	credited: number | null;
};

type Viewer = { salesDataEnabled: number; campaignIdEnabled: number; pricingModel: PricingModel };
type Moments = Viewer & { present: number; changesFrom: number };

/** Grows where records get other fields, or the same is told otherwise: a copy made of earlier ones lacks them. */
export const FORMAT = 1;

/** Before every row. */
const START: ConversionsCursor = ["present", -1, "", ""];

/**
 * The next page behind a cursor, all of it of one moment. Without a cursor it begins with how those stand whose changes are no longer kept.
 * @returns null where there is no such publisher
 * @throws HttpError 410 for a cursor from which not every change is kept, from before records had other fields, or that a database that was
 * set back has never given
 */
export async function readConversionChanges(
	db: Database,
	publisherId: string,
	{ after, limit }: ConversionChangesQuery,
): Promise<ConversionChanges | null> {
	const [reading, sequence, platform, txnid, began = 0, fields] = after ?? START;
	const [moments, page] = await runTransaction(db, [
		sql`SELECT p.sales_data_enabled AS "salesDataEnabled", p.campaign_id_enabled AS "campaignIdEnabled",
				p.pricing_model AS "pricingModel", s.present, s.changes_from AS "changesFrom"
			FROM publishers p CROSS JOIN report_sequence s WHERE p.id = ${publisherId} AND s.id = 1`,
		pageOf(publisherId, { sequence, platform, txnid }, limit + 1),
	]);
	const [known] = (moments?.results ?? []) as Moments[];
	if (known === undefined) return null;
	const { present, changesFrom } = known;
	const shownFields = known.salesDataEnabled + 2 * known.campaignIdEnabled + 4 * FORMAT;
	if (after !== undefined && fields !== shownFields) {
		throw goneError("Your records have other fields since: drop your copy, and read from the beginning, without `after`.", null);
	}
	const beganAt = after === undefined ? present : began;
	// What has been read may be another publisher's since, and then stands nowhere ahead.
	const isForgotten = (reading === "changes" && sequence <= changesFrom) || (reading === "present" && beganAt < changesFrom);
	if (isForgotten || sequence > present + 1 || beganAt > present) {
		throw goneError(
			"The cursor is too old: drop your copy, and read from the beginning, without `after`.",
			writeFeedCursor(["changes", changesFrom + 1, "", "", 0, shownFields]),
		);
	}
	const rows = (page?.results ?? []) as Row[];
	const shown = rows.slice(0, limit);
	const last = shown.at(-1);
	const ofClicks = await readOfClicks(
		db,
		shown.flatMap(({ click }) => click ?? []),
	);
	const more = rows.length > limit;
	return {
		data: shown.map((row) => showChange(row, ofClicks.get(row.click ?? "") ?? NO_CLICK, known)),
		limit,
		// Behind the last row of all stands the present moment: whoever has read on to it has missed nothing, however little has changed.
		next_cursor: writeFeedCursor(
			more && last !== undefined
				? [last.sequence > changesFrom ? "changes" : reading, last.sequence, last.platform, last.txnid, beganAt, shownFields]
				: ["changes", present + 1, "", "", beganAt, shownFields],
		),
		more,
	};
}

type Place = { sequence: number; platform: string; txnid: string };

/**
 * The next rows behind a place. Each conversion whose last change is not kept stands at the place of that change, as it is now.
 */
export function pageOf(publisherId: string, { sequence, platform, txnid }: Place, rows: number): SQL {
	const isBehind = sql`(sequence, platform, txnid) > (${sequence}, ${platform}, ${txnid})`;
	const isAmountBehind = platform === "" ? sql`(sequence, id) > (${sequence}, ${txnid})` : sql`sequence > ${sequence}`;
	return sql`WITH told AS (
			SELECT sequence, platform, txnid FROM conversion_changes WHERE publisher_id = ${publisherId} AND ${isBehind}
			ORDER BY sequence, platform, txnid LIMIT ${rows}
		), untold AS (
			SELECT sequence, platform, txnid FROM conversions v WHERE publisher_id = ${publisherId} AND ${isBehind}
				AND sequence <= (SELECT CASE WHEN COUNT(*) = ${rows} THEN MAX(sequence) ELSE CAST(${Number.MAX_SAFE_INTEGER} AS BIGINT) END FROM told)
				AND (sequence > 0 OR (${COUNTED_CONVERSION})) AND NOT EXISTS (SELECT 1 FROM conversion_changes k
					WHERE k.publisher_id = v.publisher_id AND k.sequence = v.sequence AND k.platform = v.platform AND k.txnid = v.txnid)
			ORDER BY sequence, platform, txnid LIMIT ${rows}
		), amounts AS (
			SELECT sequence, '' AS platform, id AS txnid FROM adjustments WHERE publisher_id = ${publisherId} AND ${isAmountBehind}
			ORDER BY sequence, id LIMIT ${rows}
		), page AS (
			SELECT sequence, platform, txnid, 'change' AS source FROM told
			UNION ALL SELECT sequence, platform, txnid, 'present' FROM untold
			UNION ALL SELECT sequence, platform, txnid, 'amount' FROM amounts
			ORDER BY 1, 2, 3 LIMIT ${rows}
		)
		SELECT page.sequence, page.platform, page.txnid, page.source, k.at AS "changedAt", k.why, NULL AS date, ${OF_CONVERSION},
			k.old_status AS "oldStatus", k.old_event_at AS "oldEventAt", k.old_revenue_micros AS "oldRevenue",
			k.old_gross_micros AS "oldGross", k.old_sales_usd_micros AS "oldSales", k.old_credited_micros AS "oldCredited",
			k.status, k.event_at AS "eventAt", k.revenue_micros AS revenue, ${GROSS} AS gross, k.sales_usd_micros AS sales,
			k.credited_micros AS credited
		FROM page
			JOIN conversion_changes k ON k.publisher_id = ${publisherId} AND k.sequence = page.sequence AND k.platform = page.platform AND k.txnid = page.txnid
			LEFT JOIN conversions v ON v.platform = page.platform AND v.txnid = page.txnid AND v.publisher_id = ${publisherId}
			LEFT JOIN brands b ON b.id = v.brand_id
		WHERE page.source = 'change'
		UNION ALL
		SELECT page.sequence, page.platform, page.txnid, page.source, v.updated_at, NULL, NULL, ${OF_CONVERSION}, NULL, NULL, NULL, NULL, NULL, NULL,
			CASE WHEN ${COUNTED_CONVERSION} THEN v.status END, v.event_at, v.revenue_micros, v.gross_micros, v.sales_usd_micros, ${creditedOf(false)}
		FROM page JOIN conversions v ON v.platform = page.platform AND v.txnid = page.txnid LEFT JOIN brands b ON b.id = v.brand_id
		WHERE page.source = 'present'
		UNION ALL
		SELECT page.sequence, page.platform, page.txnid, page.source, a.at, NULL, a.date, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
			NULL, NULL, NULL, NULL, NULL, NULL, 'approved', a.at, a.amount_micros, 0, NULL, 0
		FROM page JOIN adjustments a ON a.id = page.txnid
		WHERE page.source = 'amount'
		ORDER BY 1, 2, 3`;
}

/** Of a change that an earlier version wrote it is known where none has come since. */
const GROSS = sql`coalesce(k.gross_micros, CASE WHEN v.sequence = k.sequence THEN v.gross_micros END)`;

/** Of its click; nothing of one that an operator found to be another publisher's. */
const OF_CONVERSION = sql`v.pricing_model AS "pricingModel", v.publisher_click_id AS "clickId", v.click_id AS click, v.clicked_at AS "clickedAt",
	b.domain AS brand, v.campaign_id AS "campaignId", v.source_id AS "sourceId"`;

function showChange(row: Row, ofClick: OfClick, viewer: Viewer): ConversionChange {
	const { platform, txnid, source } = row;
	const isAmount = source === "amount";
	return {
		id: isAmount ? txnid : conversionIdOf(platform, txnid),
		changed_at: isoTime(row.changedAt),
		why: isAmount ? "adjusted" : (row.why ?? "present"),
		rev_type: isAmount ? "ADJUSTMENT" : (row.pricingModel ?? "CPA"),
		transaction_id: txnid,
		click_id: row.clickId,
		click: row.click,
		clicked_at: isoTimeOrNull(row.clickedAt),
		brand: row.brand,
		...(viewer.campaignIdEnabled === 1 && { campaign_id: String(row.campaignId ?? "") }),
		source_id: row.sourceId ?? "",
		...userIdOf(ofClick),
		offer_id: row.brand === null ? "" : offerIdOf(row.brand),
		...atagOf(ofClick),
		...subidsOf(ofClick),
		old: showState(
			{
				status: row.oldStatus,
				eventAt: row.oldEventAt,
				revenue: row.oldRevenue,
				gross: row.oldGross,
				sales: row.oldSales,
				credited: row.oldCredited,
				date: null,
			},
			viewer,
		),
		new: showState(row, viewer),
	};
}

type ShownState = Pick<Row, "status" | "eventAt" | "revenue" | "gross" | "sales" | "credited" | "date">;

function showState({ status, eventAt, revenue, gross, sales, credited, date }: ShownState, viewer: Viewer): ConversionChange["new"] {
	if (status === null || eventAt === null) return null;
	return {
		status,
		date: date ?? utcDay(eventAt),
		at: isoTime(eventAt),
		revenue: formatUsd(revenue ?? 0),
		...(viewer.pricingModel === "CPA" && gross !== null && { gross_revenue: formatUsd(gross) }),
		credited_revenue: formatUsd(credited ?? 0),
		...(viewer.salesDataEnabled === 1 && { sales_amount: formatUsd(sales ?? 0) }),
	};
}
