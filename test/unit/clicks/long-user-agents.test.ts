/** Headers may be a hundred times as long as any browser's name: what is remembered of a thousand of these is not. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { RecentVisits } from "../../../src/clicks/recent-visits.ts";
import { DEFAULT_POLICY } from "../../../src/lib/traffic-rules.ts";
import { isBot } from "../../../src/lib/user-agent.ts";
import { BID_CLICK } from "../../support/bid-click.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const LONG = 60_000;
const MANY = 500;
const MOST_BYTES = 5_000_000;

/** By how much memory grows, bytes, while user agents of 30 MB together are looked at. */
async function growth(look: (userAgent: string, at: number) => unknown): Promise<number> {
	collect();
	const before = getHeapStatistics().used_heap_size;
	// As a header comes: a text of its own.
	for (let at = 0; at < MANY; at++) await look(new Headers({ "user-agent": `${at} ${"x".repeat(LONG)}` }).get("user-agent") ?? "", at);
	collect();
	return getHeapStatistics().used_heap_size - before;
}

test("unit: judging them keeps none of them in memory", async () => {
	expect(await growth(isBot)).toBeLessThan(MOST_BYTES);
});

test("unit: hashing them keeps none of them in memory, and their beginning decides", async () => {
	// By a name that the compiler does not follow: what is imported there has types that workerd alone has.
	const name = "../../../src/clicks/hash-user-agent.ts";
	const { hashUserAgent }: { hashUserAgent: (userAgent: string) => string | Promise<string> } = await import(name);
	// As workerd has it, and Node 24 not yet.
	Object.assign(Uint8Array.prototype, {
		toHex(this: Uint8Array) {
			return Buffer.from(this).toString("hex");
		},
	});
	try {
		expect(await growth(hashUserAgent)).toBeLessThan(MOST_BYTES);
		const beginning = "y".repeat(1_024);
		expect(await hashUserAgent(`${beginning}1`)).toBe(await hashUserAgent(`${beginning}2`));
		expect(await hashUserAgent(`${beginning}1`)).toBe(await hashUserAgent(beginning));
	} finally {
		Reflect.deleteProperty(Uint8Array.prototype, "toHex");
	}
});

test("unit: visits of which nothing is written have none of them", async () => {
	const visits = new RecentVisits();
	const remembered = await growth((userAgent, at) =>
		visits.remember(BID_CLICK, { connection: String(at), network: null, userAgent }, DEFAULT_POLICY),
	);
	expect(remembered).toBeLessThan(MOST_BYTES);
	expect(visits.factsOf(BID_CLICK, { connection: "0", network: null, userAgent: `0 ${"x".repeat(LONG)}` }, DEFAULT_POLICY)).toMatchObject({
		repeat: true,
	});
	expect(visits.factsOf(BID_CLICK, { connection: "0", network: null, userAgent: `1 ${"x".repeat(LONG)}` }, DEFAULT_POLICY)).toMatchObject({
		repeat: false,
	});
});
