/** What operators say of learning, as the database has it. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/client.ts";
import type { DelayCurves } from "../learning/delay-curve.ts";
import { type NetworkLearning, type PlatformLearning, priorCurves, readLearning } from "../learning/policy.ts";

export async function readNetworkLearning(db: Database): Promise<NetworkLearning | null> {
	const [row] = await db.all<{ epcLearning: string | null }>(sql`SELECT epc_learning AS "epcLearning" FROM network_settings`);
	return readLearning<NetworkLearning>(row?.epcLearning ?? null);
}

/** Whether any campaign's prices are learned, be it that they are only advised. */
export async function isLearning(db: Database, network: NetworkLearning | null): Promise<boolean> {
	if ((network?.mode ?? "off") !== "off") return true;
	const [row] = await db.all(sql`SELECT 1 AS found FROM campaigns
		WHERE epc_learning IS NOT NULL AND epc_learning ->> 'mode' IN ('advise', 'automatic') LIMIT 1`);
	return row !== undefined;
}

/** Whether any campaign's bids go by what is learned. */
export async function setsPrices(db: Database, network: NetworkLearning | null): Promise<boolean> {
	if (network?.mode === "automatic") return true;
	const [row] = await db.all(sql`SELECT 1 AS found FROM campaigns
		WHERE epc_learning IS NOT NULL AND epc_learning ->> 'mode' = 'automatic' LIMIT 1`);
	return row !== undefined;
}

/** The curves that each platform's conversions are first read by. */
export async function readPriorCurves(db: Database): Promise<Map<string, DelayCurves>> {
	const rows = await db.all<{ id: string; epcLearning: string | null }>(sql`SELECT id, epc_learning AS "epcLearning" FROM platforms`);
	return new Map(rows.map(({ id, epcLearning }) => [id, priorCurves(readLearning<PlatformLearning>(epcLearning))]));
}
