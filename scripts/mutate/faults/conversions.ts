import type { Fault } from "../fault.ts";

const SETTLE = "src/conversions/settle.ts";
const SETTLE_TESTS = ["test/worker/conversions/settle.test.ts", "test/worker/conversions/exactly-once.test.ts"];
const DELIVERY_TESTS = ["test/worker/callbacks/delivery.test.ts"];

/** Postbacks, settling and callbacks. */
export const CONVERSION_FAULTS: readonly Fault[] = [
	{
		name: "group-of-postbacks-grows-past-fifty",
		file: "src/conversions/postback-batcher.ts",
		find: "const MAX_BYTES = 100_000;",
		replace: "const MAX_BYTES = 102_000;",
		tests: ["test/unit/conversions/postback-batcher.test.ts"],
	},
	{
		name: "bot-goes-before-duplicate",
		file: "src/conversions/match-click.ts",
		find: '"expired",\n\t"duplicate",',
		replace: '"expired",\n\t"bot",\n\t"duplicate",',
		tests: ["test/unit/conversions/match-click.test.ts"],
	},
	{
		name: "platform-reports-on-clicks-of-another",
		file: "src/conversions/match-click.ts",
		find: "click.platform === null || click.platform === platform",
		replace: "true",
		tests: ["test/unit/conversions/match-click.test.ts"],
	},
	{
		name: "negative-payout-takes-nothing-back",
		file: SETTLE,
		find: 'postback.payoutMicros < 0 ? "cancelled" : status',
		replace: "status",
		tests: SETTLE_TESTS,
	},
	{
		name: "cancellation-of-another-amount-than-was-credited",
		file: SETTLE,
		find: "this.#last?.creditedMicros ?? 0",
		replace: "conversion.revenueMicros ?? 0",
		tests: SETTLE_TESTS,
	},
	{
		name: "new-rate-revalues-what-is-settled",
		file: SETTLE,
		find: "const usdNanos = kept ?? ",
		replace: "const usdNanos = ",
		tests: SETTLE_TESTS,
	},
	{
		name: "test-clicks-earn",
		file: SETTLE,
		find: 'conversion.pricingModel === "CPA" && !conversion.test;',
		replace: 'conversion.pricingModel === "CPA";',
		tests: SETTLE_TESTS,
	},
	{
		name: "strange-click-id-takes-anothers-hash",
		file: SETTLE,
		find: 'attribution === "publisher_click_id" && this.#maySpeakOfHash(conversion)',
		replace: "false",
		tests: SETTLE_TESTS,
	},
	{
		name: "late-postback-restates-the-conversion",
		file: SETTLE,
		find: "intakeId <= present.lastIntakeId",
		replace: "intakeId === present.lastIntakeId",
		tests: SETTLE_TESTS,
	},
	{
		name: "negative-amounts-round-the-other-way",
		file: "src/conversions/exchange.ts",
		find: " - (twice % divisor < 0n ? 1n : 0n)",
		replace: "",
		tests: ["test/unit/conversions/exchange.test.ts"],
	},
	{
		name: "unknown-status-is-approved",
		file: "src/conversions/status-map.ts",
		find: '{ status: "pending", unknown: true }',
		replace: '{ status: "approved", unknown: true }',
		tests: ["test/unit/conversions/status-map.test.ts"],
	},
	{
		name: "event-dates-far-ahead-are-taken",
		file: "src/conversions/read-event-date.ts",
		find: "at > now + DAY_MS",
		replace: "at > now + 2 * DAY_MS",
		tests: ["test/unit/conversions/read-event-date.test.ts"],
	},
	{
		name: "postback-without-a-click-is-tried-at-once-again",
		file: "src/conversions/retry-schedule.ts",
		find: "(at) => at > age",
		replace: "(at) => at >= age",
		tests: ["test/unit/conversions/retry-schedule.test.ts"],
	},
	{
		name: "unknown-keys-fill-the-ledger",
		file: "src/conversions/unknown-key-limit.ts",
		find: "if (this.#count >= MAX_UNKNOWN_PER_MINUTE) return false;",
		replace: "",
		tests: ["test/unit/conversions/unknown-key-limit.test.ts"],
	},
	{
		name: "failed-callback-is-recorded-without-its-lease",
		file: "src/callbacks/record-attempt.ts",
		find: " AND lease = ${claimed.lease}`,\n\t\tcountFailure(",
		replace: "`,\n\t\tcountFailure(",
		tests: DELIVERY_TESTS,
	},
	{
		name: "cancellation-overtakes-an-exhausted-credit",
		file: "src/callbacks/claim-callback.ts",
		find: "e.seq < c.seq AND e.state IN ('due', 'exhausted')",
		replace: "e.seq < c.seq AND e.state IN ('due')",
		tests: DELIVERY_TESTS,
	},
	{
		name: "redirects-of-receivers-are-followed",
		file: "src/callbacks/attempt-callback.ts",
		find: 'redirect: "manual"',
		replace: 'redirect: "follow"',
		tests: DELIVERY_TESTS,
	},
	{
		name: "retry-after-is-ignored",
		file: "src/callbacks/schedule.ts",
		find: ", retryAfterMs ?? 0)",
		replace: ", 0)",
		tests: DELIVERY_TESTS,
	},
	{
		name: "address-is-paused-one-failure-late",
		file: "src/callbacks/breaker.ts",
		find: "failures_in_a_row + 1 >= ${FAILURES_TO_PAUSE}",
		replace: "failures_in_a_row + 1 > ${FAILURES_TO_PAUSE}",
		tests: ["test/worker/callbacks/breaker.test.ts"],
	},
	{
		name: "callbacks-go-to-hosts-below-internal-names",
		file: "src/lib/callback-url.ts",
		find: " || host.endsWith(`.${name}`)",
		replace: "",
		tests: ["test/unit/lib/callback-url.test.ts"],
	},
];
