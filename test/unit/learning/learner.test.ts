/** The learner over tables in memory: what it learns is a function of what happened, and of nothing else. */
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Learner } from "../../../scripts/backtest/learner.ts";
import { type Line, readLine } from "../../../scripts/backtest/messages.ts";
import { answerLine, serve, writeLine } from "../../../scripts/backtest/serve.ts";
import type { Cell } from "../../../src/learning/cell.ts";
import { type CellHistory, dayOf } from "../../../src/learning/cohorts.ts";
import { nextCreep } from "../../../src/learning/creep.ts";
import { EXPLAINED_LEVELS } from "../../../src/learning/explain.ts";
import { readFactor } from "../../../src/learning/factor.ts";
import { caution, overpaidGuard } from "../../../src/learning/guards.ts";
import { effectiveMode } from "../../../src/learning/modes.ts";
import { learnNight } from "../../../src/learning/night.ts";
import type { CampaignHistory } from "../../../src/learning/night-steps.ts";
import { DEFAULT_SETTINGS } from "../../../src/learning/settings.ts";
import { MAX_SOURCES } from "../../../src/learning/sources.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/time.ts";

const START = Date.UTC(2026, 0, 5);
const DAYS = 12;

function network(epc = 0.2, scale = 1): Line {
	const campaign = (id: string, platform: string) => ({
		id,
		platform,
		epc: epc * scale,
		default_keyword_epc: { hats: -1, shoes: "0.2" },
		keyword_epc: { shoes: 0.3 * scale },
	});
	return readLine(
		JSON.stringify({
			type: "network",
			platforms: [{ id: "p" }, { id: "q" }],
			publishers: [
				{ id: "cpa", revenue_share: 0.8, pricing_model: "CPA" },
				{ id: "cpc", revenue_share: 0.75, pricing_model: "CPC" },
			],
			campaigns: [campaign("a", "p"), campaign("b", "q")],
		}),
	);
}

/** Clicks and conversions of some days: 15 in 100 clicks of campaign a buy, three of b; some purchases are taken back. */
function history(scale = 1): Line[] {
	const lines: Line[] = [];
	for (let number = 0; number < DAYS * 200; number++) {
		const at = START + Math.floor((number * DAY_MS) / 200);
		const campaign = number % 2 === 0 ? "a" : "b";
		const publisher = number % 3 === 0 ? "cpc" : "cpa";
		const keyword = number % 5 === 0 ? "shoes" : number % 7 === 0 ? "boots" : "";
		lines.push({
			type: "click",
			at,
			id: `c${number}`,
			campaign,
			publisher,
			source: `s${number % 4}`,
			keyword,
			link: number % 4 === 0 ? "deeplink" : "homepage",
			bid: 100_000 * scale,
		});
		if (luckOf(number) >= (campaign === "a" ? 15 : 3)) continue;
		const sold = {
			type: "conversion",
			txnid: `t${number}`,
			click: `c${number}`,
			platform: "p",
			payout: (4 + (number % 3)) * 1_000_000 * scale,
		} as const;
		lines.push({ ...sold, at: at + (number % 50) * HOUR_MS, status: "approved" });
		if (luckOf(number + 1) < 15) lines.push({ ...sold, at: at + (60 + (number % 90)) * HOUR_MS, status: "cancelled" });
		if (luckOf(number + 1) < 5) lines.push({ ...sold, at: at + (160 + (number % 20)) * HOUR_MS, status: "approved" });
	}
	return lines;
}

/** Some number below 100 that has nothing to do with what else is taken from a number. */
function luckOf(number: number): number {
	return (Math.imul(number + 1, 2_654_435_761) >>> 8) % 100;
}

const END = START + (DAYS + 10) * DAY_MS;

/** Tells a learner everything before any day passes, in the order given: what it then learns is what a rebuild would. */
function learnAtOnce(lines: readonly Line[], settings = DEFAULT_SETTINGS, terms = network()): Learner {
	const learner = new Learner("automatic", settings);
	answerLine(learner, terms);
	learner.passTo(START);
	for (const line of lines) if (line.type === "click" || line.type === "conversion") writeLine(learner, line);
	return learner;
}

/** All that was learned, to nine digits: sums of the same numbers in another order differ beyond them. */
function factorsOf(learner: Learner): unknown {
	return JSON.parse(
		JSON.stringify(learner.learned, (_, value: unknown) =>
			value instanceof Map
				? Object.fromEntries([...value].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
				: typeof value === "number"
					? Number(value.toPrecision(9))
					: value,
		),
	);
}

function relearn(learner: Learner): unknown {
	learner.passTo(END);
	return factorsOf(learner);
}

const CELL = { campaign: "a", publisher: "cpa", source: "s2", keyword: null, link: "homepage" } as const;

describe("unit: the learner", () => {
	it("without data the price is the operator's, to the micro-dollar", () => {
		const learner = new Learner();
		answerLine(learner, network(0.123457));
		learner.passTo(START);
		expect(learner.price(CELL)?.epcMicros).toBe(123_457);
		expect(learner.price({ ...CELL, keyword: "shoes" })?.epcMicros).toBe(300_000);
		learner.passTo(START + 40 * DAY_MS);
		expect(learner.price({ ...CELL, keyword: "boots" })?.epcMicros).toBe(123_457);
		expect(learner.price(CELL)).toEqual({ epcMicros: 123_457, advisedEpcMicros: 123_457, bidMicros: 98_800 });
	});

	it("clicks that earn more or less move the price, and each mode shows or takes it", () => {
		const learner = learnAtOnce(history());
		learner.passTo(END + 5 * DAY_MS);
		expect(learner.price(CELL)?.epcMicros).toBeGreaterThan(400_000);
		expect(learner.price({ ...CELL, campaign: "b", source: "s1" })?.epcMicros).toBeLessThan(250_000);
		const advised = new Learner("advise");
		for (const line of [network(), ...history()]) answerLine(advised, line);
		advised.passTo(END + 5 * DAY_MS);
		expect(advised.price(CELL)?.epcMicros).toBe(200_000);
		expect(advised.price(CELL)?.advisedEpcMicros).toBeGreaterThan(400_000);
	});

	it("increments over days, with folding and waiting, are what a rebuild gives", () => {
		const lines = history();
		const gradual = new Learner();
		answerLine(gradual, network());
		for (const line of lines.toSorted((a, b) => timeOf(a) - timeOf(b))) answerLine(gradual, line);
		expect(relearn(gradual)).toEqual(relearn(learnAtOnce(lines)));
	});

	it("duplicates and any order give the same factors", () => {
		const lines = history();
		const expected = relearn(learnAtOnce(lines));
		fc.assert(
			fc.property(fc.array(fc.nat(lines.length - 1), { maxLength: 300 }), fc.integer({ min: 1, max: 1e6 }), (again, seed) => {
				const shuffled = [...lines, ...again.flatMap((at) => lines[at] ?? [])]
					.map((line, at) => ({ line, rank: (at * 7_919 + seed) % 10_007 }))
					.toSorted((a, b) => a.rank - b.rank)
					.map(({ line }) => line);
				expect(relearn(learnAtOnce(shuffled))).toEqual(expected);
			}),
			{ numRuns: Number(process.env.PROPERTY_RUNS || 4) },
		);
	});

	it("all dollars times four are the same factors: nothing but the currency has changed", () => {
		const scaled = { ...DEFAULT_SETTINGS, allowanceMicros: DEFAULT_SETTINGS.allowanceMicros * 4 };
		const factors = (learner: Learner) => {
			learner.passTo(END);
			return [...(learner.learned?.campaigns.values() ?? [])].map(({ factors: { campaign } }) => campaign.factor.toPrecision(9));
		};
		expect(factors(learnAtOnce(history(4), scaled, network(0.2, 4)))).toEqual(factors(learnAtOnce(history())));
	});

	it("more earned is never a lower factor", () => {
		const amount = fc.double({ min: 0, max: 1e6, noNaN: true });
		fc.assert(
			fc.property(amount, amount, amount, fc.double({ min: 0.01, max: 1, noNaN: true }), (expected, observed, more, q) => {
				const sums = { expected, squared: expected * q, observed, expectedMicros: 0, earnedMicros: 0, clicks: 0, ripe: 0 };
				expect(readFactor({ ...sums, observed: observed + more }, 3).factor).toBeGreaterThanOrEqual(readFactor(sums, 3).factor);
			}),
		);
	});

	it("100,000 tag ids leave bounded rows, and idle ones make room", () => {
		const learner = new Learner();
		answerLine(learner, network());
		for (let number = 0; number < 100_000; number++) {
			const at = START + Math.floor((number * 30 * DAY_MS) / 100_000);
			const keyword = `word ${number}`;
			answerLine(learner, {
				type: "click",
				at,
				id: `c${number}`,
				campaign: "a",
				publisher: "cpa",
				source: `tag${number}`,
				keyword,
				link: "homepage",
				bid: 0,
			});
			if (number % 10_000 === 0) expect(learner.ledger.cells.get("a")?.size ?? 0).toBeLessThanOrEqual(MAX_SOURCES + 1);
		}
		const cells = [...(learner.ledger.cells.get("a")?.values() ?? [])];
		expect(cells.length).toBeLessThanOrEqual(MAX_SOURCES + 1);
		expect(new Set(cells.map(({ cell }) => cell.keyword))).toEqual(new Set(["*"]));
		expect(cells.flatMap(({ clicks }) => clicks).reduce((sum, { clicks }) => sum + clicks, 0)).toBe(100_000);
	});

	it("a source whose clicks never buy moves its own price, and hardly those of others", () => {
		const fraud = Array.from({ length: DAYS * 80 }, (_, number): Line => {
			const campaign = number % 2 === 0 ? "a" : "b";
			const at = START + Math.floor((number * DAY_MS) / 80);
			return { type: "click", at, id: `f${number}`, campaign, publisher: "cpa", source: "fraud", keyword: "", link: "homepage", bid: 0 };
		});
		const [honest, defrauded] = [learnAtOnce(history()), learnAtOnce([...history(), ...fraud])];
		for (const learner of [honest, defrauded]) learner.passTo(END + 20 * DAY_MS);
		const price = (learner: Learner, source: string) => learner.price({ ...CELL, source })?.epcMicros ?? 0;
		expect(price(defrauded, "fraud")).toBeLessThan(price(honest, "s2") / 3);
		expect(price(defrauded, "s2")).toBeGreaterThan(price(honest, "s2") * 0.85);
	});

	describe("fraud at one publisher, and the price of another", () => {
		/**
		 * The network's price of honest publisher A on each of 40 days: of 100 clicks a campaign, 3 buy for 10 dollars; 20 of them are publisher
		 * B's, which has a fraudulent source besides.
		 */
		function priceEachDay(clicks: number, bought: number, cancelledAfterDays: number | null, spreadDays: number): number[] {
			const learner = new Learner();
			const terms = { platform: "p", epcMicros: 300_000, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map() };
			const campaigns = [1, 2, 3, 4].map((at) => ({ ...terms, id: `c${at}` }));
			learner.setNetwork(
				["A", "B"].map((id) => ({ id, sharePpm: 1_000_000, paidByClick: false })),
				campaigns,
			);
			const lines: (Line & { at: number })[] = [];
			const sources = [
				{ publisher: "A", source: "a1", count: 40, part: 0.03 },
				{ publisher: "A", source: "a2", count: 40, part: 0.03 },
				{ publisher: "B", source: "b1", count: 20, part: 0.03 },
				{ publisher: "B", source: "bad", count: clicks, part: bought },
			];
			const due = new Map<string, number>();
			for (let number = 0, day = 0; day < 40; day++) {
				for (const { id: campaign } of campaigns) {
					for (const { publisher, source, count, part } of sources) {
						for (let click = 0; click < count; click++) {
							const at = START + day * DAY_MS + Math.floor(((number++ * 0.618) % 1) * 22 * HOUR_MS);
							const id = `k${number}`;
							const line = { at, id, campaign, publisher, source, keyword: "", link: "homepage" } as const;
							lines.push({ ...line, type: "click", bid: 0 });
							const left = (due.get(campaign + source) ?? 0) + part;
							due.set(campaign + source, left % 1);
							if (left < 1) continue;
							const sold = { type: "conversion", txnid: id, click: id, platform: "p", payout: 10_000_000 } as const;
							const late = source === "bad" ? 0 : Math.floor(((number * 0.7548776662) % 1) * spreadDays * DAY_MS);
							lines.push({ ...sold, at: at + MINUTE_MS + late, status: "approved" });
							if (source === "bad" && cancelledAfterDays !== null)
								lines.push({ ...sold, at: at + cancelledAfterDays * DAY_MS, status: "cancelled" });
						}
					}
				}
			}
			lines.sort((a, b) => a.at - b.at);
			const prices: number[] = [];
			let next = 0;
			for (let day = 1; day <= 40; day++) {
				for (; (lines[next]?.at ?? Number.POSITIVE_INFINITY) < START + day * DAY_MS - HOUR_MS; next++) {
					const line = lines[next];
					if (line !== undefined) answerLine(learner, line);
				}
				prices.push(learner.price({ campaign: "c1", publisher: "A", source: "a1", keyword: null, link: "homepage" })?.epcMicros ?? 0);
			}
			return prices;
		}

		/** Least and most of what fraud leaves of each day's price. */
		function compare(honest: readonly number[], prices: readonly number[], from: number): [least: number, most: number] {
			const parts = prices.map((price, day) => price / (honest[day] ?? 0)).slice(from);
			return [Math.min(...parts), Math.max(...parts)];
		}

		it.each([
			["a twentieth of clicks makes sales up that are taken back", 5, 0.15, 10, 16, 0.9, 1.1],
			["a fifth of them", 20, 0.15, 10, 20, 0.8, 1.25],
			["as many clicks as all others", 100, 0.15, 10, 20, 0.7, 1.25],
			["four times as many clicks as all others never buy", 400, 0, null, 5, 0.8, 1.25],
		])("%s", (_, clicks, bought, cancelled, from, least, most) => {
			const [low, high] = compare(priceEachDay(0, 0, null, 0), priceEachDay(clicks, bought, cancelled, 0), from);
			expect(low).toBeGreaterThan(least);
			expect(high).toBeLessThan(most);
		});

		it("sales made up at once do not make a slow platform look fast", () => {
			const [low, high] = compare(priceEachDay(0, 0, null, 20), priceEachDay(10, 0.15, null, 20), 28);
			expect(low).toBeGreaterThan(0.8);
			expect(high).toBeLessThan(1.25);
		});
	});

	it("what no click tells of any more goes back to what holds without it", () => {
		const learner = new Learner();
		// The first of four sources never buys.
		const lines = history().filter((line) => line.type !== "conversion" || Number(line.click.slice(1)) % 4 !== 0);
		for (const line of [network(), ...lines]) answerLine(learner, line);
		const ofSource = () => learner.explain({ ...CELL, source: "s0" })?.factors.find(({ level }) => level === "source")?.inForce;
		learner.passTo(END);
		expect(ofSource()).toBeLessThan(0.9);
		learner.passTo(END + 200 * DAY_MS);
		expect(ofSource()).toBe(1);
	});

	it("what is paid is cautious while little was seen, and less where a campaign was paid more than it earns", () => {
		expect(caution(0.5, 3, 0)).toBeCloseTo(0.711, 3);
		expect(caution(0.5, 3, 1_000)).toBeGreaterThan(0.98);
		expect(overpaidGuard({ paidMicros: 100, projectedMicros: 90 }, 10)).toBe(1);
		expect(overpaidGuard({ paidMicros: 200, projectedMicros: 90 }, 10)).toBe(0.5);
		expect(overpaidGuard({ paidMicros: 900, projectedMicros: 0 }, 10)).toBe(0.25);
	});

	it("only a starved campaign creeps upward, as far as it may, and goes back once clicks come", () => {
		expect(nextCreep(1, 0.5, 0)).toBe(1);
		for (const expected of [0, 2, 9]) expect(nextCreep(1.6, expected, 0)).toBe(1);
		expect(nextCreep(1, 0.5, 0.03)).toBe(1.03);
		expect(nextCreep(2.99, 0, 0.03)).toBe(3);
		expect(nextCreep(1.5, 2, 0.03)).toBe(1.5);
		expect(nextCreep(1.03, 9, 0.03)).toBeCloseTo(1, 9);
		expect(nextCreep(1.01, 9, 0.03)).toBe(1);
	});

	it("a campaign's first clicks are held back by nothing before the next hour, as in the book", () => {
		const learner = learnAtOnce(history());
		const line = { type: "network", publishers: [], campaigns: [{ id: "new", platform: "p", epc: 0.2 }] };
		answerLine(learner, readLine(JSON.stringify(line)));
		const at = START + (DAYS + 2) * DAY_MS;
		learner.passTo(at);
		const cell = { ...CELL, campaign: "new", publisher: "cpc" };
		const before = learner.price(cell)?.bidMicros;
		for (let n = 0; n < 500; n++) {
			writeLine(learner, { ...cell, keyword: "", type: "click", at: at + n, id: `new-${n}`, bid: 400_000 });
		}
		expect(learner.price(cell)?.bidMicros).toBe(before);
		learner.passTo(at + HOUR_MS);
		expect(learner.price(cell)?.bidMicros).toBeLessThan(before ?? 0);
	});

	it("campaigns that were never clicked cost a night nothing, however many they are: they creep, and are held back, all the same", () => {
		const learner = learnAtOnce(history(), { ...DEFAULT_SETTINGS, creep: 0.03 });
		const ids = Array.from({ length: 2_000 }, (_, at) => `idle-${at}`);
		const line = { type: "network", publishers: [], campaigns: ids.map((id) => ({ id, platform: "p", epc: 0.2 })) };
		answerLine(learner, readLine(JSON.stringify(line)));
		learner.passTo(START + 2 * DAY_MS);
		expect([...(learner.learned?.campaigns.keys() ?? [])]).toEqual(["a", "b"]);
		expect(learner.explain({ ...CELL, campaign: "idle-7", publisher: "cpc" })).toMatchObject({
			creep: 1.03 ** 2,
			caution: caution(DEFAULT_SETTINGS.caution, DEFAULT_SETTINGS.kappa.campaign, 0),
			overpaid: 1,
		});
	});

	it.each([
		["automatic", null, false, null, "automatic"],
		["automatic", "off", false, null, "off"],
		["off", "automatic", false, null, "automatic"],
		["automatic", null, true, null, "advise"],
		["automatic", null, false, "off", "off"],
		["off", null, false, "automatic", "off"],
	] as const)("network %s, campaign %s, pinned %s, publisher %s: %s", (network, mode, pinned, publisher, effective) => {
		expect(effectiveMode(network, { mode, pinned }, publisher)).toBe(effective);
	});

	it("a campaign that earns a quarter from one day on is told, and its older days count little", () => {
		const learner = new Learner();
		answerLine(learner, network());
		const days = 55;
		for (let number = 0; number < days * 60; number++) {
			const at = START + Math.floor((number * DAY_MS) / 60);
			const id = `c${number}`;
			answerLine(learner, { type: "click", at, id, campaign: "a", publisher: "cpa", source: "s", keyword: "", link: "homepage", bid: 0 });
			if (luckOf(number) >= (number < 40 * 60 ? 20 : 5)) continue;
			answerLine(learner, { type: "conversion", at, txnid: id, click: id, platform: "p", status: "approved", payout: 2_000_000 });
		}
		const broken = learner.learned?.campaigns.get("a")?.lastBreak;
		const day = (broken?.day ?? 0) - dayOf(START);
		expect(day).toBeGreaterThan(40);
		expect(day).toBeLessThan(52);
		expect(broken?.z).toBeLessThan(-2.6);
		learner.passTo(START + (days + 8) * DAY_MS);
		expect(learner.price({ ...CELL, source: "s" })?.epcMicros).toBeLessThan(0.2 * 1_000_000 * 0.85);
	});

	describe("a break is its campaign's", () => {
		const FIRST = 20_000;
		const FLOOD = FIRST + 40;
		const cellOf = (campaign: string, publisher: string): Cell => ({ campaign, publisher, source: "s", keyword: "", link: "homepage" });

		/**
		 * Four publishers send eight campaigns 40 clicks a day each, of which one buys.
		 * @param clicksOf and salesOf of the first campaign, from a day on
		 */
		function learn(today: number, clicksOf: (publisher: number) => number, salesOf: (publisher: number, day: number) => number) {
			const campaigns = ["a", "b", "c", "d", "e", "f", "g", "h"].map((id): CampaignHistory => {
				const isOther = (day: number) => id === "a" && day >= FLOOD;
				const cells = [0, 1, 2, 3].map((publisher): CellHistory => {
					const days = Array.from({ length: today - FIRST }, (_, at) => FIRST + at);
					const clicks = days.map((day) => ({ day, clicks: isOther(day) ? clicksOf(publisher) : 40, paidMicros: 0 }));
					const earnings = days.flatMap((day) => {
						const conversions = isOther(day) ? salesOf(publisher, day) : 1;
						return conversions === 0 ? [] : [{ day, sizeClass: 46, conversions, netMicros: conversions * 10_000_000 }];
					});
					return { cell: cellOf(id, `p${publisher}`), clicks, earnings, takenBack: [] };
				});
				const terms = { id, platform: "p", epcMicros: 250_000, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map() };
				return { terms, settings: DEFAULT_SETTINGS, cells, lastBreak: null };
			});
			return learnNight({ today, campaigns, curves: new Map(), settings: DEFAULT_SETTINGS });
		}

		const breaks = (...how: [Parameters<typeof learn>[1], Parameters<typeof learn>[2]]) =>
			Array.from({ length: 14 }, (_, at) => learn(FLOOD + 1 + at, ...how).campaigns.get("a")?.lastBreak?.z ?? 0);

		it("clicks of one publisher that never buy are none, though it is known as a good one", () => {
			expect(
				breaks(
					(publisher) => (publisher === 3 ? 520 : 40),
					() => 1,
				),
			).toEqual(Array(14).fill(0));
		});

		it("sales of one publisher, twelve times as many as before, are none for twelve days", () => {
			expect(
				breaks(
					() => 40,
					(publisher) => (publisher === 3 ? 12 : 1),
				).slice(0, 12),
			).toEqual(Array(12).fill(0));
		});

		it("what all publishers show is one, a large one among them", () => {
			expect(
				Math.min(
					...breaks(
						(publisher) => (publisher === 3 ? 400 : 40),
						(publisher, day) => (publisher === 3 ? 2 : day % 4 === 0 ? 1 : 0),
					),
				),
			).toBeLessThan(-2.6);
			expect(
				Math.max(
					...breaks(
						() => 40,
						() => 4,
					),
				),
			).toBeGreaterThan(4);
		});
	});

	it("a break that was none leaves half of what was known before, and not the operator's number", () => {
		const today = 20_000;
		// Clicks earn two and a half times the operator's number, and for two weeks by chance nothing.
		const history = (quietDays: number, today: number): CampaignHistory => {
			const days = Array.from({ length: 100 }, (_, at) => today - 1 - at);
			const cell = { campaign: "a", publisher: "p", source: "s", keyword: "", link: "homepage" } as const;
			const clicks = days.map((day) => ({ day, clicks: 20, paidMicros: 0 }));
			const earned = days.slice(quietDays).map((day) => ({ day, sizeClass: 46, conversions: 1, netMicros: 10_000_000 }));
			const terms = { id: "a", platform: "p", epcMicros: 200_000, defaultKeywordEpcMicros: null, keywordEpcMicros: new Map() };
			return { terms, settings: DEFAULT_SETTINGS, cells: [{ cell, clicks, earnings: earned, takenBack: [] }], lastBreak: null };
		};
		const learn = (campaign: CampaignHistory, day = today) =>
			learnNight({ today: day, campaigns: [campaign], curves: new Map(), settings: DEFAULT_SETTINGS }).campaigns.get("a");
		const before = learn(history(0, today));
		expect(before?.lastBreak).toBeNull();
		const known = before?.factors.campaign.factor ?? 0;
		// Twelve days without a sale, of which a week has seven, still come by chance: z is -2.4.
		expect(learn(history(12, today))?.lastBreak).toBeNull();
		const broken = learn(history(14, today));
		expect(broken?.lastBreak).toMatchObject({ day: today, forgottenBefore: today - 10 });
		const factor = broken?.factors.campaign.factor ?? 0;
		expect(factor).toBeGreaterThan(known / 2);
		expect(factor).toBeLessThan(known * 0.75);
		// What went before the break is not held against what follows it once more, and earlier versions' breaks forget it as they did.
		expect(learn({ ...history(14, today), lastBreak: broken?.lastBreak ?? null }, today + 14)?.lastBreak?.day).toBe(today);
		const forgetting = { day: today, forgottenBefore: today - 10, z: -4, expected: 1, observed: 1 };
		expect(learn({ ...history(14, today), lastBreak: forgetting })?.factors.campaign.factor).toBeLessThan(known / 3);
	});

	it("no cell's price moves by more than a day's limits, and not by its own publisher's sales either", () => {
		const learner = new Learner();
		answerLine(learner, network());
		const cells = ["a", "b"].flatMap((campaign) =>
			["cpa", "cpc"].flatMap((publisher) =>
				["s0", "s1", "own"].flatMap((source) =>
					[null, "shoes", "boots"].flatMap((keyword) =>
						(["homepage", "deeplink"] as const).map((link) => ({ campaign, publisher, source, keyword, link })),
					),
				),
			),
		);
		const pricesNow = () => cells.map((cell) => learner.price(cell)?.epcMicros ?? 0);
		// 30 clicks on one day, and two sales of a hundred dollars for each of them.
		const own = Array.from({ length: 30 }, (_, number): Line[] => {
			const at = START + DAY_MS + number * MINUTE_MS;
			const sale = {
				type: "conversion",
				at: at + MINUTE_MS,
				click: `own${number}`,
				platform: "p",
				status: "approved",
				payout: 100_000_000,
			} as const;
			return [
				{ type: "click", at, id: `own${number}`, campaign: "a", publisher: "cpc", source: "own", keyword: "", link: "homepage", bid: 0 },
				{ ...sale, txnid: `own${number}` },
				{ ...sale, txnid: `again${number}` },
			];
		});
		const lines = [...history(), ...own.flat()].toSorted((a, b) => timeOf(a) - timeOf(b));
		answerLine(learner, { type: "prices", at: START, cells: [] });
		const days: number[][] = [];
		let [lowest, highest] = [1, 1];
		for (let hour = 0, next = 0; hour < (DAYS + 20) * 24; hour++) {
			for (let line = lines[next]; line !== undefined && timeOf(line) < START + hour * HOUR_MS; line = lines[++next])
				answerLine(learner, line);
			learner.passTo(START + hour * HOUR_MS);
			const now = pricesNow();
			for (const before of days) {
				for (const [at, price] of now.entries()) {
					highest = Math.max(highest, price / (before[at] ?? 0));
					lowest = Math.min(lowest, price / (before[at] ?? 0));
				}
			}
			days.push(now);
			if (days.length > 23) days.shift();
		}
		// Prices are whole micro-dollars.
		expect(highest).toBeLessThanOrEqual(1.25 + 1e-4);
		expect(highest).toBeGreaterThan(1.2);
		expect(lowest).toBeGreaterThanOrEqual(0.6 - 1e-4);
		expect(learner.price({ ...CELL, publisher: "cpc", source: "own" })?.epcMicros).toBeGreaterThan(300_000);
	});

	it("a price is explained as the chain that it is", () => {
		const learner = learnAtOnce(history());
		learner.passTo(END + 20 * DAY_MS);
		const { operatorMicros, factors, epcMicros, payoutCapMicros } = learner.explain(CELL) ?? {};
		const product = (factors ?? []).reduce((sum, { inForce }) => sum * inForce, operatorMicros ?? 0);
		expect(Math.abs(product - (epcMicros ?? 0))).toBeLessThan(1);
		expect(factors?.map(({ level }) => level)).toEqual([...EXPLAINED_LEVELS]);
		expect(factors?.[0]).toMatchObject({ weight: expect.closeTo(0.97, 1), maturity: expect.closeTo(1, 1) });
		expect(payoutCapMicros).toBeGreaterThan(15_000_000);
		expect(new Learner().explain(CELL)).toBeNull();
	});

	it("a number that the operator changes holds at once, against all that was seen", () => {
		const learner = learnAtOnce(history());
		learner.passTo(END + 10 * DAY_MS);
		const before = learner.price(CELL)?.epcMicros ?? 0;
		answerLine(learner, network(before / 1_000_000));
		const after = learner.price(CELL)?.epcMicros ?? 0;
		expect(Math.abs(after / before - 1)).toBeLessThan(0.15);
	});

	it.each([1.01, 2, 0.5])("a price on its way goes on by a day's movement where its number is %d times as much", (by) => {
		const learner = new Learner();
		const lines = [network(), ...history().map((line) => (line.type === "conversion" ? { ...line, payout: 80_000_000 } : line))];
		const change = START + 5 * DAY_MS;
		const priced = (): number => learner.price(CELL)?.epcMicros ?? 0;
		const tell = (from: number, to: number) => {
			for (const line of lines) if (timeOf(line) >= from && timeOf(line) < to) answerLine(learner, line);
			learner.passTo(to);
		};
		tell(0, change);
		let before = priced();
		answerLine(learner, network(0.2 * by));
		expect(priced() / before).toBeGreaterThan(0.75);
		expect(priced() / before).toBeLessThan(1.25);
		before = priced();
		for (let day = 0; day < 3; day++) {
			tell(change + day * DAY_MS, change + (day + 1) * DAY_MS);
			expect(priced() / before).toBeGreaterThan(1.1);
			expect(priced() / before).toBeLessThan(1.2501);
			before = priced();
		}
	});

	it("a night without campaigns or cells is a night", () => {
		expect(learnNight({ today: dayOf(START), campaigns: [], curves: new Map(), settings: DEFAULT_SETTINGS }).campaigns.size).toBe(0);
	});
});

function timeOf(line: Line): number {
	return line.type === "network" ? 0 : line.at;
}

describe("unit: backtest --serve", () => {
	async function answers(lines: readonly string[]): Promise<{ answered: string[]; told: string[] }> {
		const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
		const done = serve(input, output, errors).then(() => {
			output.end();
			errors.end();
		});
		input.end(`${lines.join("\n")}\n`);
		const read = await Promise.all([text(output), text(errors), done]);
		return { answered: read[0].split("\n").filter(Boolean), told: read[1].split("\n").filter(Boolean) };
	}

	it("answers prices alone, and tells what it cannot read", async () => {
		const cells = [
			["a", "cpa", "s", null, "homepage"],
			["a", "cpc", null, "shoes", "deeplink"],
			["nobody", "cpa", "s", null, "homepage"],
			null,
		];
		const { answered, told } = await answers([
			JSON.stringify({
				type: "network",
				platforms: null,
				publishers: [
					{ id: "cpa", revenue_share: "0.8", pricing_model: "CPA" },
					{ id: "cpc", revenue_share: 0.75, pricing_model: "CPC" },
				],
				campaigns: [
					{
						id: "a",
						brand: "x.com",
						platform: "p",
						country: "US",
						epc: 0.2,
						default_keyword_epc: { hats: -1, shoes: "0.2" },
						keyword_epc: { hats: -1, shoes: "0.2" },
					},
				],
			}),
			"not json",
			"[]",
			"null",
			JSON.stringify({ type: "click", at: "soon", id: 1 }),
			JSON.stringify({
				type: "click",
				at: START,
				id: "x",
				campaign: "nobody",
				publisher: "cpa",
				source: null,
				keyword: null,
				link: null,
				bid: null,
			}),
			JSON.stringify({ type: "conversion", at: START, txnid: "t", click: "unknown", platform: null, status: "approved", payout: 5 }),
			JSON.stringify({ type: "conversion", at: START, txnid: "t", click: "unknown", platform: "p", status: "perhaps", payout: 5 }),
			JSON.stringify({ type: "conversion", at: START, txnid: "t", click: "unknown", platform: "p", status: "approved", payout: -5 }),
			JSON.stringify({ type: "prices", at: START, cells: [] }),
			JSON.stringify({ type: "click", at: START, id: "x", campaign: "a", publisher: "cpa" }),
			JSON.stringify({ type: "click", at: START + 70 * DAY_MS, id: "y", campaign: "a", publisher: "cpa", bid: 0.1 }),
			JSON.stringify({ type: "prices", at: START, cells }),
			"",
			JSON.stringify({ type: "prices", at: START, unknown: 1 }),
		]);
		expect(answered).toHaveLength(3);
		expect(answered[2]).toMatch(/^\{"epc":\[\],"bid":\[\],"error":"cells: /);
		expect(answered[0]).toBe('{"epc":[],"bid":[]}');
		const { epc, bid } = JSON.parse(answered[1] ?? "") as { epc: number[]; bid: number[] };
		expect(epc).toEqual([0.2, 0.2, 0, 0]);
		expect(bid[0]).toBe(0.16);
		expect(bid[1]).toBeLessThan(0.15);
		expect(bid.slice(2)).toEqual([0, 0]);
		expect(told).toHaveLength(13);
		expect(told.slice(0, 2)).toEqual([
			"line 1: campaigns.a.default_keyword_epc is no amount of USD that can be bid: taken as none",
			"line 1: campaigns.a.keyword_epc.hats is no amount of USD that can be bid: taken as none",
		]);
		expect(told.slice(10)).toEqual([
			'line 13: cells.2: no campaign "nobody" with a publisher "cpa": priced at 0',
			"line 13: cells.3: no campaign undefined with a publisher undefined: priced at 0",
			expect.stringMatching(/^line 15: cells: /),
		]);
	});

	const askedAt = (at: number) => JSON.stringify({ type: "prices", at, cells: [["a", "cpa", "s", null, "homepage"]] });
	const terms = JSON.stringify({
		type: "network",
		publishers: [{ id: "cpa", revenue_share: 1, pricing_model: "CPA" }],
		campaigns: [{ id: "a", platform: "p", epc: 0.2 }],
	});
	/** A day of clicks, one in ten of which earns ten times what its campaign's number says. */
	const day = (number: number) =>
		Array.from({ length: 100 }, (_, at) => {
			const id = `${number}-${at}`;
			const time = START + number * DAY_MS + at * MINUTE_MS;
			const click = { type: "click", at: time, id, campaign: "a", publisher: "cpa", source: "s", bid: 0.2 };
			const sale = { type: "conversion", at: time + MINUTE_MS, txnid: id, click: id, platform: "p", status: "approved", payout: 20 };
			return at % 10 === 0 ? [click, sale] : [click];
		})
			.flat()
			.map((line) => JSON.stringify(line));
	const lastEpc = (answered: readonly string[]) => (JSON.parse(answered.at(-1) ?? "") as { epc: number[] }).epc[0] ?? 0;

	it("goes on learning whatever one line says of the time, be it the first", async () => {
		const far = Date.UTC(2099, 0, 1);
		const early = JSON.stringify({ type: "conversion", at: far, txnid: "z", click: "z", platform: "p", status: "approved", payout: 1 });
		const days = Array.from({ length: 8 }, (_, number) => [...day(number), askedAt(START + (number + 1) * DAY_MS)]);
		const plain = await answers([terms, ...days.flat()]);
		expect(plain.told).toEqual([]);
		expect(lastEpc(plain.answered)).toBeGreaterThan(0.4);
		const first = await answers([terms, early, askedAt(far), askedAt(START - 400 * DAY_MS), ...days.flat()]);
		expect(first.told).toEqual([]);
		expect(first.answered.slice(2)).toEqual(plain.answered);
		const between = await answers([terms, ...days.flatMap((lines, at) => (at === 4 ? [askedAt(far), early, ...lines] : lines))]);
		expect(between.told).toEqual([
			expect.stringMatching(/prices: at lies \d+ days ahead: priced as it is now/),
			expect.stringMatching(/conversion: at lies/),
		]);
		expect(between.answered.toSpliced(4, 1)).toEqual(plain.answered);
		expect(between.answered[4]).toBe(plain.answered[3]);
	});

	it("believes a campaign that pays for leads and for sales to be worth both", async () => {
		// One click in 10 is a lead, and one in 100 a sale: 0.01 and 0.30 USD a click.
		const kinds = [
			{ every: 10, payout: 0.1 },
			{ every: 100, payout: 30 },
		];
		const events = Array.from({ length: 30 * 200 }, (_, number) => {
			const at = START + number * (DAY_MS / 200);
			const said = { at: at + MINUTE_MS, click: number, platform: "p", status: "approved" };
			const sold = kinds.filter(({ every }) => number % every === 0);
			return [
				{ type: "click", at, id: number, campaign: "a", publisher: "cpa", source: "s", bid: 0.2 },
				...sold.map(({ every, payout }) => ({ type: "conversion", txnid: `${number} ${every}`, payout, ...said })),
			];
		}).flat();
		const known = (await answers([terms, ...events.map((event) => JSON.stringify(event)), askedAt(START + 30 * DAY_MS)])).answered;
		expect(lastEpc(known)).toBeGreaterThan(0.25);
		expect(lastEpc(known)).toBeLessThan(0.37);
	});

	it("takes the time of a feed that was quiet for months, once some lines agree on it", async () => {
		const { answered, told } = await answers([terms, ...day(0), ...day(100), ...day(101), askedAt(START + 102 * DAY_MS)]);
		expect(told).toHaveLength(19);
		expect(lastEpc(answered)).toBeGreaterThan(0.2);
	});
});
