import type { Fault } from "../fault.ts";

const CAPS = "src/clicks/consumer/caps.ts";
const CAPS_TESTS = ["test/worker/caps.test.ts"];
const DECIDE_CLICKS = "src/clicks/consumer/decide-clicks.ts";
const DECIDE_CLICKS_TESTS = ["test/unit/clicks/decide-clicks.test.ts"];
const DECIDE_PAUSE = "src/clicks/consumer/decide-pause.ts";
const DECIDE_PAUSE_TESTS = ["test/unit/clicks/decide-pause.test.ts"];

/** The redirect, its tokens, the consumer of clicks and caps. */
export const CLICK_FAULTS: readonly Fault[] = [
	{
		name: "kv-is-tried-twice",
		file: "src/clicks/record-click.ts",
		find: "[1_100, 3_000]",
		replace: "[1_100]",
		tests: ["test/unit/clicks/record-click.test.ts"],
	},
	{
		name: "long-batches-are-not-split",
		file: "src/clicks/consumer/consume-clicks.ts",
		find: "of splitByBytes(clicks)",
		replace: "of [clicks]",
		tests: ["test/worker/click-consumer.test.ts"],
	},
	{
		name: "clicks-of-one-hash-in-one-batch-are-all-billed",
		file: DECIDE_CLICKS,
		find: "this.#billed.add(hash);",
		replace: "",
		tests: DECIDE_CLICKS_TESTS,
	},
	{
		name: "head-requests-are-billed",
		file: "src/clicks/request-facts.ts",
		find: 'head: method === "HEAD",',
		replace: "",
		tests: ["test/worker/click-reasons.test.ts"],
	},
	{
		name: "tracking-links-expire",
		file: "src/clicks/redirect-route.ts",
		find: 'kind !== "link" && now',
		replace: "now",
		tests: ["test/worker/what-a-bid-tells-its-click.test.ts"],
	},
	{
		name: "redirect-to-any-host",
		file: "src/clicks/choose-target.ts",
		find: "if (!isWithin(host, brand.domain) &&",
		replace: "if (false &&",
		tests: ["test/unit/clicks/choose-target.test.ts"],
	},
	{
		name: "replaced-campaign-by-one-that-is-not-active",
		file: "src/clicks/choose-target.ts",
		find: "Number(b.active) - Number(a.active)",
		replace: "Number(a.active) - Number(b.active)",
		tests: ["test/unit/clicks/choose-target.test.ts"],
	},
	{
		name: "the-whole-address-is-kept",
		file: "src/lib/ip.ts",
		find: '${text.slice(0, text.lastIndexOf("."))}.0/24',
		replace: "${text}/24",
		tests: ["test/unit/lib/ip.test.ts"],
	},
	{
		name: "tokens-of-an-older-key-are-refused",
		file: "src/click-token/token.ts",
		find: "(await this.#ring()).find((candidate) =>",
		replace: "(await this.#ring()).slice(0, 1).find((candidate) =>",
		tests: ["test/worker/click-token.test.ts"],
	},
	{
		name: "nonces-repeat",
		file: "src/click-token/token.ts",
		find: "const counter = minting.counter++;",
		replace: "const counter = minting.counter;",
		tests: ["test/worker/click-token.test.ts"],
	},
	{
		name: "altered-tracking-links-are-taken",
		file: "src/click-token/link-token.ts",
		find: "if (!crypto.subtle.timingSafeEqual(tag, expected)) return null;",
		replace: "",
		tests: ["test/worker/link-token.test.ts"],
	},
	{
		name: "a-pace-needs-one-click-more",
		file: DECIDE_PAUSE,
		find: "recent.clicks < LEAST_CLICKS_OF_A_RATE",
		replace: "recent.clicks <= LEAST_CLICKS_OF_A_RATE",
		tests: DECIDE_PAUSE_TESTS,
	},
	{
		name: "total-budget-is-met-a-micro-dollar-late",
		file: DECIDE_PAUSE,
		find: "ever.micros + ahead.micros >= totalBudgetMicros",
		replace: "ever.micros + ahead.micros > totalBudgetMicros",
		tests: DECIDE_PAUSE_TESTS,
	},
	{
		name: "daily-cap-is-met-a-click-late",
		file: DECIDE_PAUSE,
		find: "today.clicks + ahead.clicks >= dailyClickCap",
		replace: "today.clicks + ahead.clicks > dailyClickCap",
		tests: DECIDE_PAUSE_TESTS,
	},
	{
		name: "imported-total-budget-is-met-late",
		file: CAPS,
		find: "= t.campaign_id AND t.spend_micros >= ",
		replace: "= t.campaign_id AND t.spend_micros > ",
		tests: CAPS_TESTS,
	},
	{
		name: "sweep-misses-days-east-of-utc-plus-12",
		file: CAPS,
		find: "now + 14 * HOUR_MS",
		replace: "now + 12 * HOUR_MS",
		tests: CAPS_TESTS,
	},
	{
		name: "sweep-misses-days-of-utc-minus-12",
		file: CAPS,
		find: "now - 12 * HOUR_MS",
		replace: "now - 11 * HOUR_MS",
		tests: CAPS_TESTS,
	},
	{
		name: "pace-of-yesterday-holds-today",
		file: CAPS,
		find: "state.day !== state.pausedDay || now - state.pausedAt > PAUSE_PROPAGATION_MS",
		replace: "now - state.pausedAt > PAUSE_PROPAGATION_MS",
		tests: CAPS_TESTS,
	},
	{
		name: "a-burst-costs-a-campaign-its-day",
		file: CAPS,
		find: " || now - state.pausedAt > PAUSE_PROPAGATION_MS",
		replace: "",
		tests: CAPS_TESTS,
	},
	{
		name: "total-budget-is-passed-by-a-click",
		file: DECIDE_CLICKS,
		find: "ever.micros + bidMicros > totalBudgetMicros",
		replace: "ever.micros >= totalBudgetMicros",
		tests: DECIDE_CLICKS_TESTS,
	},
	{
		name: "daily-cap-is-passed-by-a-click",
		file: DECIDE_CLICKS,
		find: "today.clicks + 1 > dailyClickCap",
		replace: "today.clicks > dailyClickCap",
		tests: DECIDE_CLICKS_TESTS,
	},
	{
		name: "a-repeat-is-one-of-a-later-click-only",
		file: DECIDE_CLICKS,
		find: "Math.abs(visit.clickedAt - at) < policy.repeatMinutes",
		replace: "visit.clickedAt <= at && at - visit.clickedAt < policy.repeatMinutes",
		tests: DECIDE_CLICKS_TESTS,
	},
	{
		name: "an-hour-is-that-before-a-click-alone",
		file: DECIDE_CLICKS,
		find: "filter((time) => Math.abs(time - at) < HOUR_MS)",
		replace: "filter((time) => time <= at && time > at - HOUR_MS)",
		tests: DECIDE_CLICKS_TESTS,
	},
	{
		name: "batches-are-written-on-what-has-changed",
		file: "src/clicks/consumer/write-clicks.ts",
		find: "CASE WHEN version = ?1 THEN version + 1 END",
		replace: "version + 1",
		tests: ["test/worker/paid-within-budgets.test.ts"],
	},
	{
		name: "a-suspended-publisher-is-paid",
		file: "src/clicks/redirect-route.ts",
		find: "publisher_suspended: publisher?.suspended === true,",
		replace: "",
		tests: ["test/worker/what-is-not-paid.test.ts"],
	},
	{
		name: "frames-are-paid",
		file: "src/clicks/request-facts.ts",
		find: '(destination !== null && destination !== "document")',
		replace: "false",
		tests: ["test/worker/click-reasons.test.ts"],
	},
];
