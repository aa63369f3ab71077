import { afterEach, describe, expect, test, vi } from "vitest";
import { MAX_UNKNOWN_PER_MINUTE, UnknownKeyLimit } from "../../../src/conversions/unknown-key-limit.ts";

afterEach(() => vi.restoreAllMocks());

describe("unit: how many postbacks with unknown keys are kept", () => {
	test("so many a minute, and then as many in the next", async () => {
		const limit = new UnknownKeyLimit();
		const kept = async (now: number) => {
			let count = 0;
			for (let at = 0; at < 200; at++) if (await limit.allows(now)) count++;
			return count;
		};
		expect([await kept(0), await kept(59_999), await kept(60_000)]).toEqual([MAX_UNKNOWN_PER_MINUTE, 0, MAX_UNKNOWN_PER_MINUTE]);
	});

	test("and no more than the place's own limit lets through", async () => {
		let left = 3;
		const limit = new UnknownKeyLimit({ limit: async () => ({ success: left-- > 0 }) });
		const answers = [];
		for (let at = 0; at < 5; at++) answers.push(await limit.allows(0));
		expect(answers).toEqual([true, true, true, false, false]);
	});

	test("where the place's own limit fails it limits nothing, and the isolate's goes on counting", async () => {
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		const limit = new UnknownKeyLimit({ limit: () => Promise.reject(new Error("the limiter is away")) });
		const answers = [];
		for (let at = 0; at <= MAX_UNKNOWN_PER_MINUTE; at++) answers.push(await limit.allows(0));
		expect(answers).toEqual([...Array(MAX_UNKNOWN_PER_MINUTE).fill(true), false]);
		expect(JSON.parse(String(logged.mock.calls[0]?.[0]))).toMatchObject({ event: "postback.limit_failed" });
	});
});
