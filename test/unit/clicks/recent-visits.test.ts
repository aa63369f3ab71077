/** What is told of clicks of which nothing is kept: from memory, by the same rules as of others. */
import { describe, expect, it } from "vitest";
import type { ClickMessage } from "../../../src/clicks/message.ts";
import { RecentVisits } from "../../../src/clicks/recent-visits.ts";
import { type ClickStore, recordClick } from "../../../src/clicks/record-click.ts";
import { HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";
import { DEFAULT_POLICY, type TrafficPolicy } from "../../../src/lib/traffic-rules.ts";

const START = Date.parse("2026-11-18T15:00:00Z");
let serial = 0;

function click(minutes: number, fields: Partial<ClickMessage> = {}): ClickMessage {
	const at = START + minutes * MINUTE_MS;
	return {
		format: 1,
		id: `c-${++serial}`,
		at,
		hash: "0".repeat(32),
		kind: "link",
		publisher: "acme",
		brandId: 1,
		campaignId: 1,
		...fields,
	};
}

/** Records clicks of one address, and tells what was sent. */
function recorder(limit?: (key: string) => boolean, networkLimit?: (key: string) => boolean) {
	const sent: ClickMessage[] = [];
	const asked: string[] = [];
	const limiter = (allows?: (key: string) => boolean) =>
		allows === undefined
			? undefined
			: {
					limit: async ({ key }: { key: string }) => {
						asked.push(key);
						return { success: allows(key) };
					},
				};
	const store: ClickStore = {
		sender: { send: async (message) => void sent.push(message) },
		connectionKey: "key",
		limits: { address: undefined, token: undefined, stripped: limiter(limit), strippedNetwork: limiter(networkLimit) },
		visits: new RecentVisits(),
	};
	const record = (
		message: ClickMessage,
		userAgent = "Browser",
		policy: TrafficPolicy | null = DEFAULT_POLICY,
		connection = "203.0.113.7",
	) => recordClick(store, message, { userAgent, connection }, policy);
	return { sent, asked, record };
}

const reasons = (sent: readonly ClickMessage[]) => sent.map(({ reason }) => reason);

describe("unit: clicks of which nothing is kept", () => {
	it("have neither address nor browser in their message, and their repeats are found", async () => {
		const { sent, record } = recorder();
		for (const minutes of [0, 59, 60, 61]) await record(click(minutes));
		await record(click(62, { brandId: 2 }));
		await record(click(63), "Another browser");
		expect(reasons(sent)).toEqual([undefined, "repeat", undefined, "repeat", undefined, undefined]);
		expect(sent.some(({ connection, userAgentHash }) => connection !== undefined || userAgentHash !== undefined)).toBe(false);
	});

	it("are those of one address where their networks are of one IPv6 site, though of other visitors", async () => {
		const { sent, asked, record } = recorder(() => true);
		const from = (network: string, minutes: number, brandId = 1) =>
			record(click(minutes, { brandId }), "Browser", { ...DEFAULT_POLICY, addressPerHour: 3 }, `2001:db8:85a3:12${network}::/64`);
		await from("00", 0);
		await from("01", 1);
		await from("01", 2);
		await from("02", 3);
		await from("03", 4);
		expect(reasons(sent)).toEqual([undefined, undefined, "repeat", undefined, "velocity"]);
		expect(new Set(asked).size).toBe(1);
		expect(sent.some(({ connection, network }) => connection !== undefined || network !== undefined)).toBe(false);
	});

	it("of one IPv6 network of 48 bits are no more in an hour of the clock than it may have, whatever their addresses", async () => {
		const { sent, record } = recorder();
		const from = (address: number, minutes: number, publisher = "acme", network = "85a3") => {
			const of = `2001:db8:${network}:${(address * 256).toString(16)}::/64`;
			return record(click(minutes, { publisher }), "Browser", { ...DEFAULT_POLICY, networkPerHour: 3 }, of);
		};
		for (let address = 1; address <= 4; address++) await from(address, 0);
		await from(5, 1, "other");
		await from(5, 1, "acme", "85a4");
		await from(5, 60);
		expect(reasons(sent)).toEqual([undefined, undefined, undefined, "velocity", undefined, undefined, undefined]);
	});

	it("of one IPv6 network are too many past its limit of a minute, which all isolates of a place count", async () => {
		const { sent, asked, record } = recorder(
			() => true,
			() => false,
		);
		const from = (connection: string, policy: Partial<TrafficPolicy> = {}) =>
			record(click(0), "Browser", { ...DEFAULT_POLICY, repeatMinutes: 0, ...policy }, connection);
		await from("2001:db8:85a3:1200::/64");
		await from("2001:db8:85a3:1300::/64");
		await from("203.0.113.7");
		await record(click(0, { reason: "embedded" }), "Browser", { ...DEFAULT_POLICY, repeatMinutes: 0 }, "2001:db8:85a3:1600::/64");
		// Who may have more in an hour has no limit of a minute.
		await from("2001:db8:85a3:1400::/64", { networkPerHour: 5_000 });
		await from("2001:db8:85a3:1500::/64", { modes: { ...DEFAULT_POLICY.modes, velocity: "flag" } });
		expect(reasons(sent)).toEqual(["velocity", "velocity", undefined, "embedded", undefined, undefined]);
		// By publisher, and by keyed hashes: of three connections and, twice, of their network.
		expect([asked.length, new Set(asked).size]).toEqual([6, 5]);
		expect(asked.every((key) => /^acme [0-9a-f]{16}$/.test(key))).toBe(true);
	});

	it("of the same bid are duplicates before they are repeats, whoever clicks", async () => {
		const { sent, record } = recorder();
		const ofBid = (bid: string, minutes: number) => click(minutes, { kind: "openrtb", hash: bid.repeat(32) });
		await record(ofBid("a", 0));
		await record(ofBid("a", 1));
		await record(ofBid("b", 2));
		await record(ofBid("a", 3), "Another browser");
		await record(ofBid("b", 4), "Another browser");
		expect(reasons(sent)).toEqual([undefined, "duplicate", "repeat", "duplicate", undefined]);
	});

	it("are too many past the rules' numbers, of a visitor and of an address, and an hour later no more", async () => {
		const policy = { ...DEFAULT_POLICY, visitorPerHour: 3, addressPerHour: 5 };
		const { sent, record } = recorder();
		for (let brandId = 1; brandId <= 4; brandId++) await record(click(0, { brandId }), "A", policy);
		for (let brandId = 1; brandId <= 3; brandId++) await record(click(1, { brandId }), "B", policy);
		await record(click(61, { brandId: 9 }), "A", policy);
		expect(reasons(sent)).toEqual([undefined, undefined, undefined, "velocity", undefined, undefined, "velocity", undefined]);
	});

	it("are flagged or left alone where the rules say so, and asked of no other publisher", async () => {
		const { sent, record } = recorder();
		const policy: TrafficPolicy = { ...DEFAULT_POLICY, modes: { ...DEFAULT_POLICY.modes, repeat: "flag" } };
		await record(click(0), "A", policy);
		await record(click(1), "A", policy);
		await record(click(1, { publisher: "other" }), "A", policy);
		expect(sent.map(({ reason, flags }) => [reason, flags])).toEqual([
			[undefined, undefined],
			[undefined, ["repeat"]],
			[undefined, undefined],
		]);
	});

	it("are not recorded past 600 unpaid ones of an address in an hour", async () => {
		const { sent, record } = recorder();
		for (let at = 0; at < 610; at++) await record(click(0, { reason: "bot" }));
		expect(sent).toHaveLength(600);
		await record(click(HOUR_MS / MINUTE_MS, { reason: "bot" }));
		expect(sent).toHaveLength(601);
		for (let at = 0; at < 600; at++) await record(click(HOUR_MS / MINUTE_MS, { reason: "embedded" }));
		expect(sent).toHaveLength(1_200);
		// That a bid's user saw nothing is told all the same.
		for (const reason of ["embedded", "prefetch"] as const) {
			await record(click(HOUR_MS / MINUTE_MS, { reason, kind: "openrtb" }));
			await record(click(HOUR_MS / MINUTE_MS, { reason, kind: "link" }));
		}
		expect(sent.slice(1_200).map(({ kind, reason }) => [kind, reason])).toEqual([
			["openrtb", "embedded"],
			["openrtb", "prefetch"],
		]);
	});

	it("are remembered for an hour, or as long as a rule on repeats asks, and then not even as a hash", async () => {
		const visits = new RecentVisits();
		const remember = (minutes: number, connection: string, repeatMinutes = 60) =>
			visits.remember(click(minutes), { connection, network: null, userAgent: "Browser" }, { ...DEFAULT_POLICY, repeatMinutes });
		remember(0, "one");
		remember(0, "two", 120);
		remember(59, "three");
		expect(visits.size).toBe(3);
		remember(60, "three");
		expect(visits.size).toBe(2);
		remember(121, "four");
		expect(visits.size).toBe(1);
	});

	it("of an address that clicks on are remembered, however many others have come since its first", async () => {
		const visits = new RecentVisits();
		const placeOf = (connection: string) => ({ connection, network: null, userAgent: "Browser" });
		const remember = (connection: string) => visits.remember(click(0), placeOf(connection), DEFAULT_POLICY);
		remember("one");
		for (let other = 0; other < 9_999; other++) remember(String(other));
		remember("one");
		remember("another");
		expect(visits.size).toBe(10_000);
		expect(visits.factsOf(click(1), placeOf("one"), DEFAULT_POLICY)).toMatchObject({ repeat: true });
		expect(visits.factsOf(click(1), placeOf("0"), DEFAULT_POLICY)).toMatchObject({ repeat: false });
	});

	it("are held against their own limit, by publisher and hash, and others are not", async () => {
		const { sent, asked, record } = recorder(() => false);
		await record(click(0));
		await record(click(0), "", null);
		await record(click(0, { brandId: 3 }), "Browser", { ...DEFAULT_POLICY, modes: { ...DEFAULT_POLICY.modes, velocity: "off" } });
		expect(reasons(sent)).toEqual(["velocity", undefined, undefined]);
		expect(asked).toHaveLength(1);
		expect(asked[0]).toMatch(/^acme [0-9a-f]{16}$/);
	});
});
