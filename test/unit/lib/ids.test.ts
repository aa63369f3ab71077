import { describe, expect, test } from "vitest";
import { leastIdAt, newTimeOrderedId, newUuid } from "../../../src/lib/ids.ts";

const VERSION_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("unit: ids", () => {
	test("are UUIDs of version 4, and none twice", () => {
		const made = Array.from({ length: 1_000 }, newUuid);
		for (const id of made) expect(id).toMatch(VERSION_4);
		expect(new Set(made).size).toBe(1_000);
	});

	test("are of chance in every digit but the version and the variant", () => {
		const made = Array.from({ length: 2_000 }, newUuid);
		const digitsAt = (place: number) => new Set(made.map((id) => id.charAt(place))).size;
		const seen = Array.from({ length: 36 }, (_, place) => digitsAt(place));
		expect(seen).toEqual(Array.from({ length: 36 }, (_, at) => ([8, 13, 14, 18, 23].includes(at) ? 1 : at === 19 ? 4 : 16)));
	});

	test("of a time are of version 7, and sort by it", () => {
		const times = [0, 1, 999, 1_795_000_000_000, 1_795_000_000_001, 2 ** 47];
		const made = times.map(newTimeOrderedId);
		for (const id of made) expect(id).toMatch(VERSION_7);
		expect([...made].sort()).toEqual(made);
		for (const [at, time] of times.entries()) {
			expect((made[at] as string) > leastIdAt(time)).toBe(true);
			expect((made[at] as string) < leastIdAt(time + 1)).toBe(true);
		}
	});
});
