/** Steps of random histories: clicks and postbacks as they are sent, late, twice and otherwise; what operators import and say; the time. */
import fc from "fast-check";
import { leastIdAt } from "../../src/lib/ids.ts";
import type { ModelClick } from "./reference-ledger.ts";

export const START = Date.parse("2026-11-12T00:00:00Z");
/** The last is reported about long before the first click. */
const EVENT_DAYS = ["2026-11-10", "2026-11-11", "2026-09-30"];

/** Whose clicks these are, by the beginning of their hash: of two users, several. */
const USERS: Record<string, string> = { a: "user-1", "9": "user-1", c: "user-2", d: "user-2" };

/**
 * The clicks a history may make: one plain, two that share a publisher click id, a head before its billed click, one of a platform that
 * nobody knows any more, a test, one that passes off another's hash as its click id, two redirects of one hash, of two paid ones the
 * embedded redirect of the same link, and others.
 */
export const CLICKS = (
	[
		{ hash: "a", platform: "west", publisher: "cpa", publisherClickId: "pub-a", source: "s1", reason: null },
		{ hash: "b", platform: "west", publisher: "quiet", publisherClickId: "shared", source: "s1", reason: null },
		{ hash: "c", platform: null, publisher: "cpa", publisherClickId: "shared", source: null, reason: null },
		{ hash: "d", platform: "east", publisher: "cpa", publisherClickId: null, source: "s2", reason: "head" },
		{ hash: "d", platform: "east", publisher: "cpa", publisherClickId: null, source: "s2", reason: null },
		{ hash: "e", platform: "west", publisher: "cpc", publisherClickId: "pub-e", source: "s2", reason: null },
		{ hash: "f", platform: "west", publisher: "cpa", publisherClickId: "pub-f", source: "s1", reason: "test" },
		{ hash: "9", platform: "east", publisher: "quiet", publisherClickId: "shared", source: "s3", reason: "expired" },
		{ hash: "8", platform: "west", publisher: "quiet", publisherClickId: "a".repeat(32), source: "s2", reason: null },
		{ hash: "7", platform: null, publisher: "cpa", publisherClickId: "pub-7", source: "s1", reason: "embedded" },
		{ hash: "a", platform: "west", publisher: "cpa", publisherClickId: "pub-a", source: "s3", reason: null },
		{ hash: "a", platform: "west", publisher: "cpa", publisherClickId: "pub-a", source: "s1", reason: "embedded" },
		{ hash: "e", platform: "west", publisher: "cpc", publisherClickId: "pub-e", source: "s3", reason: "embedded" },
	] as const
).map((click, at): ModelClick => {
	const billed = { bid: 100_000 * (at + 1), isCounted: true };
	const unknown = { model: null, share: null };
	const clickedAt = START - 10_000 + at;
	const id = `${leastIdAt(clickedAt)}-7000-8000-${String(at).padStart(12, "0")}`;
	return { ...click, ...billed, ...unknown, uid: USERS[click.hash] ?? `user-${click.hash}`, hash: click.hash.repeat(32), id, clickedAt };
});

/** What stands around a text on its way, and means nothing. */
const dressing = fc.constantFrom(
	...["", "", "", "", " ", "\u0000", "\r\n", "\u00a0"].map((before, at) => [before, ["", "\t ", " \u0007", ""][at % 4] ?? ""] as const),
);
const dressed = <Text extends string | null>(text: fc.Arbitrary<Text>) =>
	fc.tuple(text, dressing).map(([text, [before, after]]) => (text === null ? null : `${before}${text}${after}`));

const cid = fc.constantFrom(
	...CLICKS.map(({ hash }) => hash),
	...["a", "a", "a", "d", "d", "A"].map((letter) => letter.repeat(32)),
	"pub-a",
	"pub-a",
	"shared",
	"pub-e",
	"unknown",
	"0".repeat(32),
);

/** Words, one that nobody knows, and macros that nobody filled in. */
const status = fc.constantFrom(null, "paid", "paid", "Paid", "hold", "void", "odd", "refunded", "Charge-Back", "{status}", "%STATUS%");

/** A postback as it is sent; amounts in micros of its currency. */
const postback = fc.record({
	platform: fc.constantFrom("west", "west", "east"),
	txnid: fc.constantFrom("t1", "t1", "t1", "t2", "t3"),
	cid: dressed(cid).map(String),
	status: dressed(status),
	eventAt: fc.constantFrom(...[...EVENT_DAYS, ...EVENT_DAYS.slice(0, 1)].map((day) => Date.parse(`${day}T23:59:59.999Z`))),
	payoutMicros: fc.constantFrom(
		10_000_000,
		10_000_000,
		12_345_678,
		1,
		0,
		0,
		-10_000_000,
		-3_000_000,
		-3_000_000,
		42_000_000,
		49_999_950,
		9_000_000_000_000_000,
	),
	salesMicros: fc.constantFrom(null, null, 100_000_001, -5_000_000, 6_000_000_000_000),
	currency: fc.constantFrom(null, null, "EUR", "USD", "GBP", " eur"),
});
export type SentPostback = typeof postback extends fc.Arbitrary<infer Value> ? Value : never;

/** What one batch holds of what is in flight, by numbers that are taken modulo its size; and how the consumer ends. */
const delivery = fc.record({
	queue: fc.constantFrom("postbacks" as const, "postbacks" as const, "clicks" as const),
	picks: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 }),
	/** `twice`: two consumers at once. `before`: D1 fails in the middle of the transaction. `after`: no acknowledgement comes through. */
	fate: fc.constantFrom("acked", "acked", "acked", "twice", "before", "before", "after"),
});

/** A click: its message tells the terms it was made under, or is an earlier version's and does not; or its row is, and tells none. */
const click = fc.record({
	at: fc.nat({ max: CLICKS.length - 1 }),
	way: fc.constantFrom("message" as const, "message" as const, "bare_message" as const, "old_row" as const),
	around: dressing,
});

/** Settings of a publisher and of a platform, as an import brings them. */
const terms = fc.record({
	share: fc.constantFrom(800_000n, 333_333n, 1_000_000n, 0n),
	model: fc.constantFrom("CPA" as const, "CPA" as const, "CPC" as const),
	amendments: fc.constantFrom("none" as const, "pair" as const),
	url: fc.boolean(),
});
const meaning = fc.record({
	currency: fc.constantFrom("USD", "EUR"),
	negative: fc.constantFrom("cancel" as const, "adjust" as const),
	words: fc.constantFrom<Record<string, "approved" | "pending" | "cancelled">>(
		{},
		{ odd: "approved", paid: "pending", void: "approved" },
		{ PAID: "cancelled", odd: "cancelled" },
		{ hold: "approved", refunded: "pending", "{status}": "cancelled" },
	),
});
/** For some days, or for others than before on days that have one. */
const rates = fc.record({
	currency: fc.constantFrom("EUR", "EUR", "GBP"),
	days: fc.constantFrom(EVENT_DAYS, EVENT_DAYS, EVENT_DAYS.slice(1)),
	nanos: fc.constantFrom(1_083_456_789n, 1_083_456_789n, 987_654_321n),
});

/** Corrected rates are to hold, of some days or of one. */
const revaluation = fc.record({
	currency: fc.constantFrom("EUR", "EUR", "GBP"),
	from: fc.constantFrom("2026-09-30", "2026-11-10", "2026-11-11"),
	to: fc.constantFrom("2026-11-11", "2026-11-11", "2026-11-12"),
});

const kind = <Kind extends string, Fields extends object>(kind: Kind, weight: number, fields: fc.Arbitrary<Fields>) => ({
	weight,
	arbitrary: fields.map((fields) => ({ kind, ...fields })),
});
const key = postback.map(({ platform, txnid }) => ({ platform, txnid }));
/** Which of what was sent is meant, counted from the last. */
const back = fc.constantFrom(0, 0, 0, 1, 1, 2, 3);

/** What was sent comes again, or something that differs from it in one respect. */
const again = fc.record({
	back,
	isStatement: fc.constantFrom(false, false, true),
	but: fc.constantFrom<Partial<SentPostback>>(
		{},
		{},
		{},
		{ status: "void" },
		{ status: "void" },
		{ status: "hold" },
		{ payoutMicros: -3_000_000 },
		{ payoutMicros: -10_000_000 },
		{ payoutMicros: 0 },
		{ payoutMicros: 42_000_000 },
		{ eventAt: Date.parse("2026-11-11T23:59:59.999Z") },
		{ currency: "EUR" },
		{ cid: "7".repeat(32) },
		{ cid: "a".repeat(32) },
	),
});

const publisherId = fc.constantFrom("cpa" as const, "cpa" as const, "quiet" as const, "cpc" as const);
const subject = fc.oneof(
	fc.constantFrom(...CLICKS).map(({ hash }) => ({ hash })),
	fc.constantFrom(...CLICKS).map(({ uid }) => ({ uid })),
);

const step = fc.oneof(
	kind("receive", 16, fc.record({ postback })),
	kind("again", 14, again),
	kind("deliver", 14, delivery),
	kind("click", 6, click),
	kind("rates", 3, rates),
	kind("revalue", 3, revaluation),
	kind("pass", 4, fc.record({ minutes: fc.constantFrom(1, 20, 600, 1_500) })),
	kind("look_again", 1, key),
	kind("judge", 6, fc.record({ back, verdict: fc.constantFrom("voided" as const, "released" as const, null) })),
	kind("attach", 4, fc.record({ back, at: fc.nat({ max: CLICKS.length - 1 }) })),
	/** Of all adjustments, counted from the last. */
	kind("undo", 4, fc.record({ back })),
	kind("void_clicks", 2, fc.record({ source: fc.constantFrom("s1", "s2", "s3") })),
	kind("ceiling", 1, fc.record({ of: fc.constantFrom("west", "east"), max: fc.constantFrom(null, 5_000_000, 45_000_000) })),
	kind("erase", 2, fc.record({ subject })),
	/** A publisher's client of the feed of changes, which is killed before it has stored all that it has read. */
	kind(
		"follow",
		3,
		fc.record({ of: publisherId, limit: fc.constantFrom(1, 2, 3), pages: fc.constantFrom(1, 2), kept: fc.constantFrom(0, 1, 2) }),
	),
	/** What is old enough is removed: clicks without a sale, those that were never paid first. */
	kind("remove", 1, fc.record({ of: fc.constantFrom("unpaid" as const, "all" as const) })),
	kind("hear", 2, fc.record({})),
	kind("expose", 1, fc.record({})),
	kind("publisher", 2, fc.record({ id: fc.constantFrom("cpa", "cpa", "quiet", "cpc"), terms })),
	kind("platform", 2, fc.record({ id: fc.constantFrom("west", "east"), meaning })),
	kind("suspend", 1, fc.record({ id: fc.constantFrom("cpa", "cpa", "quiet") })),
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const made = (at: number): Step => ({ kind: "click", at, way: "message", around: ["", ""] });
const STORED: Step = { kind: "deliver", queue: "clicks", picks: [0, 1], fate: "acked" };
/** A click that is stored by its second delivery: the transaction of the first one fails. */
export const FAILED_ONCE: Step[] = [made(0), { kind: "deliver", queue: "clicks", picks: [0], fate: "before" }, STORED];
const RATED: Step = { kind: "rates", currency: "EUR", days: EVENT_DAYS, nanos: 1_083_456_789n };

const ALL: Step = { kind: "deliver", queue: "postbacks", picks: [0, 1, 2, 3], fate: "acked" };

/** Its link is called from within another page, and that is stored. */
const embeddedToo = (at: number): Step[] => [made(at), { kind: "deliver", queue: "clicks", picks: [0, 1, 2, 3], fate: "acked" }];

/** A payout that one rate holds for its amount, and another one lets through. */
const HELD: SentPostback = {
	platform: "west",
	txnid: "t1",
	cid: "a".repeat(32),
	status: null,
	eventAt: Date.parse("2026-11-10T23:59:59.999Z"),
	payoutMicros: 42_000_000,
	salesMicros: null,
	currency: "EUR",
};
const BEGUN: Step[] = [made(0), STORED, RATED, { kind: "receive", postback: HELD }, ALL];
const RERATED = ([987_654_321n, 1_083_456_789n, 987_654_321n] as const).flatMap((nanos): Step[] => [
	{ kind: "rates", currency: "EUR", days: EVENT_DAYS, nanos },
	{ kind: "revalue", currency: "EUR", from: "2026-09-30", to: "2026-11-11" },
]);
const SUSPENDED: Step = { kind: "suspend", id: "cpa" };
/** What is held for its amount gets another rate; of what may hold it besides, nothing, a suspension or an embedded link. */
export const HELD_AND_REVALUED = [[], [SUSPENDED], embeddedToo(11)].map((between) => [...BEGUN, ...between, ...RERATED]);

/** What was voided while it had no click is released; then its click comes, which nobody saw. */
export const RELEASED_WITHOUT_CLICK: Step[] = [
	{ kind: "receive", postback: { ...HELD, cid: "7".repeat(32), currency: null } },
	ALL,
	{ kind: "judge", back: 0, verdict: "voided" },
	{ kind: "judge", back: 0, verdict: "released" },
	...embeddedToo(9),
];

const sentAgain = (back: 0 | 1, but: Partial<SentPostback>, isStatement = false): Step => ({ kind: "again", back, isStatement, but });
const deliver = (...picks: number[]): Step => ({ kind: "deliver", queue: "postbacks", picks, fate: "acked" });
const SETTLED: Step[] = [made(0), STORED, { kind: "receive", postback: { ...HELD, payoutMicros: 10_000_000, currency: null } }, ALL];

/** What a statement says is repeated by a postback: after a cancellation that comes late, and after a correction of it. */
export const STATEMENT_REPEATED: Step[][] = [
	[...SETTLED, sentAgain(0, { status: "hold" }, true), ALL, sentAgain(0, { status: "void" }), sentAgain(1, {}), deliver(1), deliver(0)],
	[
		{ kind: "platform", id: "west", meaning: { currency: "USD", negative: "adjust", words: {} } },
		...SETTLED,
		sentAgain(0, { payoutMicros: 42_000_000 }, true),
		ALL,
		sentAgain(0, { payoutMicros: -3_000_000 }),
		ALL,
		sentAgain(1, {}),
		ALL,
	],
];

/** An import, or another redirect of the click, between a conversion and what corrects it. */
const correction = fc
	.record({
		postback,
		brings: fc.oneof(
			{ weight: 2, arbitrary: fc.constantFrom(11, 12).map(embeddedToo) },
			{ weight: 2, arbitrary: fc.tuple(kind("rates", 1, rates).arbitrary, kind("revalue", 1, revaluation).arbitrary) },
			kind("rates", 2, rates),
			kind("platform", 2, fc.record({ id: fc.constantFrom("west", "east"), meaning })),
			kind("publisher", 2, fc.record({ id: fc.constantFrom("cpa", "quiet", "cpc"), terms })),
			kind("suspend", 1, fc.record({ id: fc.constantFrom("cpa", "quiet") })),
		),
		payoutMicros: fc.constantFrom(10_000_000, 12_345_678, 1, 0, -3_000_000),
	})
	.map(({ postback, brings, payoutMicros }): Step[] => [
		{ kind: "receive", postback },
		ALL,
		...[brings].flat(),
		{ kind: "receive", postback: { ...postback, payoutMicros } },
		ALL,
	]);

/** Many begin with clicks of both platforms that are stored, and rates: what comes then is settled, and changes. */
export const history = fc
	.tuple(
		fc.constantFrom<Step[]>([], [made(0), made(4), STORED], [made(0), made(4), STORED, RATED]),
		fc.array(step, { minLength: 2, maxLength: 12 }),
		fc.oneof(fc.constant<Step[]>([]), correction),
		fc.array(step, { minLength: 2, maxLength: 12 }),
	)
	.map((parts) => parts.flat());
