import { describe, expect, test, vi } from "vitest";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { RecentVisits } from "../../../src/clicks/recent-visits.ts";
import { recordClick } from "../../../src/clicks/record-click.ts";
import { BID_CLICK } from "../../support/bid-click.ts";

describe("unit: limits of clicks", () => {
	/** What was sent of a bid's click whose token's limit does this. */
	async function sent(limit: () => Promise<{ success: boolean }>): Promise<ClickMessage[]> {
		const messages: ClickMessage[] = [];
		const store = {
			sender: { send: async (message: ClickMessage) => void messages.push(message) },
			connectionKey: "key",
			limits: { address: undefined, token: { limit }, stripped: undefined },
			visits: new RecentVisits(),
		};
		await recordClick(store, { ...BID_CLICK }, { userAgent: null, connection: null }, null);
		return messages;
	}

	test("one that refuses leaves the click unpaid", async () => {
		expect(await sent(async () => ({ success: false }))).toMatchObject([{ reason: "velocity" }]);
		expect(await sent(async () => ({ success: true }))).toEqual([BID_CLICK]);
	});

	test("one that never answers, or fails, neither holds up the click nor makes it unpaid", async () => {
		expect(await sent(() => new Promise(() => {}))).toEqual([BID_CLICK]);
		const log = vi.spyOn(console, "error").mockImplementation(() => {});
		expect(await sent(() => Promise.reject(new Error("away")))).toEqual([BID_CLICK]);
		expect(log).toHaveBeenCalledOnce();
		log.mockRestore();
	});
});
