import { expect, test } from "vitest";
import { EventFields } from "../../../src/console/operator/event-fields.tsx";

test("unit: what an event has set is told as people read it", () => {
	const set = {
		cid: "<b>",
		status_unknown: false,
		network_status: null,
		event_at: "2026-11-18T15:00:00.000Z",
		payout: "12.3456",
		gross_usd: "1234.5000",
		usd_rate: 1,
		revenue_share: 0.8,
		source_id: "side_bar",
	};
	const html = String(<EventFields set={set} />);
	const text = html.replaceAll("</li>", "\n").replaceAll(/<[^>]*>/g, "");
	expect(text.trim().split("\n")).toEqual([
		"cid: &lt;b&gt;",
		"status unknown: no",
		"network status: –none",
		"event at: 2026-11-18 15:00:00 UTC",
		"payout: 12.3456",
		"gross: 1234.5000 USD",
		"USD for one of its currency: 1",
		"revenue share: 80%",
		"source id: side_bar",
	]);
});
