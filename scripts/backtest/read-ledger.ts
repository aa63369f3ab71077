import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client, TypeOverrides } from "pg";
import type { CampaignTerms } from "../../src/learning/cell.ts";
import type { CONVERSION_EVENT_KINDS, CONVERSION_STAGES, ConversionStatus, LinkType, PricingModel, Verdict } from "../../src/lib/enums.ts";
import { HOUR_MS } from "../../src/lib/time.ts";
import { errorCode, Failure } from "../local/failure.ts";
import { STATE_DIR } from "../local/paths.ts";
import type { Ledger, LedgerClick, LedgerWord } from "./walk-ledger.ts";

type CampaignRow = { id: number; platform: string; epc: number | null; defaultKeyword: number | null; keywords: string };
type ConversionStage = (typeof CONVERSION_STAGES)[number];
type EventRow = Omit<LedgerWord, "status" | "isConfirmed"> & {
	seq: number;
	kind: (typeof CONVERSION_EVENT_KINDS)[number];
	/** What the event has set; null where it left it. */
	stage: ConversionStage | null;
	status: ConversionStatus | null;
	judged: Verdict | null;
	/** Of the conversion, at last. */
	verdict: Verdict | null;
};
type ClickRow = Omit<LedgerClick, "campaign" | "link"> & { campaign: number; link: LinkType | null };

/** The file of the network's database that the local server keeps. @throws Failure where there is none */
export function findLocalDatabase(): string {
	const folder = join(STATE_DIR, "v3", "d1");
	const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
	const files = entries
		.filter((entry) => entry.isFile() && entry.name.endsWith(".sqlite"))
		.map(({ parentPath, name }) => join(parentPath, name));
	const found = files.find((file) => {
		const db = new DatabaseSync(file, { readOnly: true });
		try {
			return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'clicks'").get() !== undefined;
		} finally {
			db.close();
		}
	});
	if (found === undefined) throw new Failure("The local server has no database here: name a SQLite file by --database.");
	return found;
}

/** Reads all rows of a statement that both engines run. */
type ReadAll = <Row>(text: string) => Promise<Row[]>;

/** Reads what a walk needs of a network's database. @param file of SQLite, migrated @throws Failure where it is none */
export async function readSqliteLedger(file: string): Promise<Ledger> {
	try {
		const db = new DatabaseSync(file, { readOnly: true });
		try {
			return await readLedger(async <Row>(text: string) => db.prepare(text).all() as Row[]);
		} finally {
			db.close();
		}
	} catch (error) {
		if (errorCode(error) !== "ERR_SQLITE_ERROR") throw error;
		const reason = error instanceof Error ? error.message : String(error);
		throw new Failure(
			`${file} is no database of this network (${reason}): name the SQLite file of one, with all migrations, by --database.`,
		);
	}
}

/** Types of PostgreSQL whose values are numbers here, as in SQLite: integers, and the sums of them. */
const NUMBERS = [20, 21, 23, 1700];

/** The same of PostgreSQL, as it stands at one moment. @param url of the database, migrated */
export async function readPostgresLedger(url: string): Promise<Ledger> {
	const types = new TypeOverrides();
	for (const type of NUMBERS) types.setTypeParser(type, Number);
	let client: Client;
	try {
		client = new Client({ connectionString: url, types });
		await client.connect();
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		throw new Failure(
			`The database of DATABASE_URL does not answer (${reason}): see that it runs, and that address and password are right.`,
		);
	}
	try {
		await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
		return await readLedger(async <Row>(text: string) => (await client.query(text)).rows as Row[]);
	} finally {
		await client.end();
	}
}

/** Paid clicks, and what their conversions came to be. */
async function readLedger(all: ReadAll): Promise<Ledger> {
	const publishers = await all<{ id: string; sharePpm: number; pricingModel: PricingModel }>(
		`SELECT id, revenue_share_ppm AS "sharePpm", pricing_model AS "pricingModel" FROM publishers ORDER BY id`,
	);
	const campaigns =
		await all<CampaignRow>(`SELECT campaign_id AS id, platform, epc_micros AS epc, default_keyword_epc_micros AS "defaultKeyword",
		keyword_epc_micros AS keywords FROM campaigns ORDER BY campaign_id`);
	// Clicks of earlier versions do not know their link: most were on homepages.
	const clicks = await all<ClickRow>(`SELECT id, clicked_at AS at, campaign_id AS campaign, publisher_id AS publisher,
		coalesce(source_hash, source_id, '') AS source, coalesce(keyword, '') AS keyword, link FROM clicks
		WHERE reason IS NULL AND publisher_id IS NOT NULL ORDER BY clicked_at, id`);
	const [removed] = await all<{ upTo: string | null }>(
		`SELECT max(cursor) AS "upTo" FROM retention WHERE name IN ('clicks', 'weeks of clicks')`,
	);
	const completeFrom = removed?.upTo == null ? null : timeOfId(removed.upTo) + HOUR_MS;
	const events =
		await all<EventRow>(`SELECT e.at, e.seq, e.kind, v.platform, v.txnid, v.click_id AS click, e.details -> 'set' ->> 'stage' AS stage,
			e.details -> 'set' ->> 'status' AS status, e.details -> 'set' ->> 'verdict' AS judged, coalesce(v.gross_micros, 0) AS "grossMicros", v.verdict
		FROM conversion_events e JOIN conversions v ON v.platform = e.platform AND v.txnid = e.txnid
		WHERE v.click_id IS NOT NULL AND v.test = 0 ORDER BY e.platform, e.txnid, e.seq`);
	const earned = await all<{ click: string; micros: number }>(`SELECT click_id AS click, sum(gross_micros) AS micros FROM conversions
		WHERE stage = 'settled' AND status = 'approved' AND test = 0 AND click_id IS NOT NULL AND gross_micros > 0 GROUP BY click_id`);
	return {
		publishers: publishers.map(({ id, sharePpm, pricingModel }) => ({ id, sharePpm, paidByClick: pricingModel === "CPC" })),
		campaigns: campaigns.map(termsOf),
		clicks: clicks
			.filter(({ at }) => completeFrom === null || at >= completeFrom)
			.map(({ campaign, link, ...click }) => ({ ...click, campaign: String(campaign), link: link ?? "homepage" })),
		completeFrom,
		words: readWords(events),
		earnedMicros: new Map(earned.map(({ click, micros }) => [click, micros])),
	};
}

/** Of a time-ordered id: as src/db/removed-clicks.ts takes it, an hour more or less. */
function timeOfId(id: string): number {
	return Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
}

/** When each conversion came to count for its click, and when no more: while it is held it does not. Or when it was voided. */
function readWords(events: readonly EventRow[]): LedgerWord[] {
	const words: LedgerWord[] = [];
	for (const ofConversion of Map.groupBy(events, ({ platform, txnid }) => JSON.stringify([platform, txnid])).values()) {
		// A conversion that lost its click began again with the one that it has.
		const detached = ofConversion.findLastIndex(({ kind }) => kind === "detached");
		let [stage, status]: [ConversionStage | null, ConversionStatus | null] = [null, null];
		let judged: Verdict | null = null;
		let said: LedgerWord["status"] = "cancelled";
		for (const [index, event] of ofConversion.entries()) {
			stage = event.stage ?? stage;
			status = event.status ?? status;
			if (event.kind === "judged") judged = event.judged;
			const ended = judged === "voided" ? "voided" : "cancelled";
			const now = stage === "settled" && status === "approved" ? "approved" : ended;
			const isPassing = index <= detached || ofConversion[index + 1]?.at === event.at;
			if (isPassing || now === said) continue;
			said = now;
			const { at, platform, txnid, click, grossMicros, verdict } = event;
			const isConfirmed = verdict === "released";
			words.push({ at, platform, txnid, click, status: now, grossMicros, isConfirmed });
		}
	}
	return words.sort((a, b) => a.at - b.at);
}

function termsOf({ id, platform, epc, defaultKeyword, keywords }: CampaignRow): CampaignTerms {
	return {
		id: String(id),
		platform,
		epcMicros: epc,
		defaultKeywordEpcMicros: defaultKeyword,
		keywordEpcMicros: new Map(Object.entries(JSON.parse(keywords) as Record<string, number>)),
	};
}
