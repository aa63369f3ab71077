/** What the consumer writes of a click of test/bench/click-messages.ts. */
import { benchClick } from "../../../test/bench/click-messages.ts";

/** By column of `clicks`. */
export function clickRow(at: number): Record<string, string | number | null> {
	const click = benchClick(at);
	const { clickid, subi, subid1, uid } = click.texts;
	return {
		id: click.id,
		click_hash: click.hash,
		kind: click.kind,
		reason: null,
		clicked_at: click.at,
		publisher_id: click.publisher.replace("bench_", "p"),
		brand_id: click.brandId,
		campaign_id: click.campaignId,
		platform: "northwind",
		publisher_click_id: clickid,
		source_id: subi,
		subi,
		psorc: null,
		pcat: null,
		subid1,
		subid2: null,
		subid3: null,
		subid4: null,
		subid5: null,
		uid,
		atag: null,
		bid_micros: click.bidMicros,
		revenue_micros: 0,
		pricing_model: "CPA",
		revenue_share_ppm: 800_000,
		gross_micros: 420_000,
		country: click.country,
		ip_prefix: click.ipPrefix,
		user_agent_hash: click.userAgentHash,
		flags: null,
		keyword: null,
		link: click.link,
		keyword_class: null,
		source_hash: "kT3x0",
		asked_from: null,
		written_by: "",
		voided_by: null,
		sequence: 1,
	};
}

export const CLICK_ROW_COLUMNS: readonly string[] = Object.keys(clickRow(0));
