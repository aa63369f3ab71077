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

describe("unit: where a click comes from", () => {
	async function placeOf(connection: string) {
		const messages: ClickMessage[] = [];
		const asked: string[] = [];
		const address = { limit: async ({ key }: { key: string }) => ({ success: asked.push(key) > 0 }) };
		const store = {
			sender: { send: async (message: ClickMessage) => void messages.push(message) },
			connectionKey: "key",
			limits: { address, token: undefined, stripped: undefined },
			visits: new RecentVisits(),
		};
		await recordClick(store, { ...BID_CLICK }, { userAgent: null, connection }, null);
		const [message] = messages;
		expect(asked).toEqual([message?.connection]);
		return { connection: message?.connection, network: message?.network };
	}

	test("networks of one IPv6 site have its hash, and the limit of an address counts them together", async () => {
		const one = await placeOf("2001:db8:85a3:1::/64");
		expect(one).toEqual({ connection: expect.stringMatching(/^[0-9a-f]{16}$/), network: "01" });
		expect(await placeOf("2001:db8:85a3:fe::/64")).toEqual({ ...one, network: "fe" });
		expect((await placeOf("2001:db8:85a3:101::/64")).connection).not.toBe(one.connection);
	});

	test("an IPv4 address is one by itself", async () => {
		expect((await placeOf("203.0.113.7")).network).toBeUndefined();
		expect((await placeOf("203.0.113.7")).connection).not.toBe((await placeOf("203.0.113.8")).connection);
	});
});
