import type { Fault } from "../fault.ts";

const CAPS = "src/clicks/consumer/caps.ts";
const CAPS_TESTS = ["test/worker/caps.test.ts"];
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
		file: "src/clicks/consumer/click-rows.ts",
		find: "billed.has(message.hash)",
		replace: "billed.has(message.id)",
		tests: ["test/worker/click-consumer.test.ts"],
	},
	{
		name: "head-requests-are-billed",
		file: "src/clicks/why-uncounted.ts",
		find: 'if (method === "HEAD") return "head";',
		replace: "",
		tests: ["test/worker/click-reasons.test.ts"],
	},
	{
		name: "tracking-links-expire",
		file: "src/clicks/why-uncounted.ts",
		find: 'token.kind !== "link" && ',
		replace: "",
		tests: ["test/worker/click-reasons.test.ts"],
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
		find: "if (state.day !== state.pausedDay) return NOTHING;",
		replace: "",
		tests: CAPS_TESTS,
	},
];
