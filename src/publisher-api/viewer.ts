/** The publisher who asks, and what is for its eyes. */
import { type SQL, sql } from "drizzle-orm";
import type { PricingModel } from "../lib/enums.ts";
import type { Viewer } from "./show-conversion.ts";

type Row = { pricingModel: PricingModel; salesDataEnabled: number; campaignIdEnabled: number };

export function readViewer(publisherId: string): SQL {
	return sql`SELECT pricing_model AS "pricingModel", sales_data_enabled AS "salesDataEnabled", campaign_id_enabled AS "campaignIdEnabled"
		FROM publishers WHERE id = ${publisherId}`;
}

/** Null where the publisher is no more. @param result of {@link readViewer} */
export function viewerOf(publisherId: string, result: D1Result | undefined): Viewer | null {
	const [row] = (result?.results ?? []) as Row[];
	if (row === undefined) return null;
	return {
		publisherId,
		pricingModel: row.pricingModel,
		salesDataEnabled: row.salesDataEnabled === 1,
		campaignIdEnabled: row.campaignIdEnabled === 1,
	};
}
