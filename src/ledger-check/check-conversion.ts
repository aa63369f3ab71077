/**
 * Whether a conversion is what its history says, and whether its publisher was told what reports show: pure. What was read of it at one
 * moment goes in, what differs comes out.
 */
import { type Conversion, contributionOf, type EventDetails } from "../conversions/conversion.ts";
import { differences } from "../conversions/conversion-changes.ts";
import {
	type Amendments,
	type CALLBACK_HOLDS,
	type CallbackState,
	type CallbackStatus,
	CONVERSION_HOLDS,
	type LedgerCheckKind,
} from "../lib/enums.ts";
import { formatUsd } from "../lib/money.ts";

export type CheckedCallback = {
	seq: number;
	status: CallbackStatus;
	payoutMicros: number;
	state: CallbackState;
	heldFor: (typeof CALLBACK_HOLDS)[number] | null;
};

/** All that is stored of a conversion, each list in the order of its sequence. */
export type CheckedConversion = {
	conversion: Conversion;
	events: readonly ({ seq: number } & Pick<EventDetails, "set" | "why">)[];
	callbacks: readonly CheckedCallback[];
	/** Whether its publisher asks to be told of another amount. */
	amendments: Amendments;
};

/**
 * Why what a publisher confirmed need not come to what reports show: `pending` is in reports and told of by nobody, `held` keeps a credit that
 * reports leave out, `amount_changed` stands where a credit is of
 * another amount and the publisher asks to hear of none, the others where a callback is not confirmed.
 */
export const NET_REASONS = ["pending", "held", "amount_changed", "not_delivered", "paused", "exhausted", "no_url"] as const;
export type NetReason = (typeof NET_REASONS)[number];

export type LedgerDifference = {
	platform: string;
	txnid: string;
	publisherId: string | null;
	kind: LedgerCheckKind;
	/** The field, as the table names it; of callbacks what is amiss. */
	field: string;
	stored: string | null;
	expected: string | null;
};

export type Checked = { differences: LedgerDifference[]; reason: NetReason | null };

type Finding = Pick<LedgerDifference, "field" | "stored" | "expected">;

export function checkConversion(checked: CheckedConversion): Checked {
	const { platform, txnid, publisherId } = checked.conversion;
	const told = checkCallbacks(checked);
	const of = (kind: LedgerCheckKind) => (finding: Finding) => ({ platform, txnid, publisherId, kind, ...finding });
	return { differences: [...checkHistory(checked).map(of("history")), ...told.findings.map(of("callbacks"))], reason: told.reason };
}

/** The fields that its events set, one after the other, are those that it has. */
function checkHistory({ conversion, events }: CheckedConversion): Finding[] {
	const isWhole = events.length === conversion.eventCount && events.every(({ seq }, at) => seq === at + 1);
	const count = { field: "event_count", stored: String(conversion.eventCount), expected: String(events.length) };
	const replayed: Partial<Conversion> = Object.assign({}, ...events.map(({ set }) => set));
	if (replayed.heldFor === undefined && conversion.heldFor !== null) replayed.heldFor = holdInWords(events);
	// 0.1.0, which knows neither holds nor verdicts, has settled some beside later versions, and its events say so.
	if (replayed.stage === "settled") replayed.heldFor = null;
	if (replayed.verdict === "voided") replayed.status = "cancelled";
	// What differs is told as an event would tell it.
	const wrong = differences(replayed as Conversion, conversion);
	return [
		...(isWhole ? [] : [count]),
		...Object.entries(wrong).map(([name, stored]) => ({
			field: name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
			stored: textOf(stored),
			expected: textOf(replayed[name as keyof Conversion]),
		})),
	];
}

/** What the earliest versions held, whose rows have no reason but that which a migration has written. */
function holdInWords(events: CheckedConversion["events"]): Conversion["heldFor"] {
	const held = events.findLast(({ set }) => set.stage !== undefined);
	if (held?.set.stage !== "quarantined") return null;
	return held.why === "too_large" ? "amount" : (CONVERSION_HOLDS.find((hold) => hold === held.why) ?? null);
}

function textOf(value: unknown): string | null {
	return value === null || value === undefined ? null : String(value);
}

/** What was credited less what was taken back is what reports show, or there is a reason. */
function checkCallbacks(checked: CheckedConversion): { findings: Finding[]; reason: NetReason | null } {
	const { conversion, callbacks } = checked;
	const last = callbacks.at(-1);
	const credit = last?.status === "approved" ? last.payoutMicros : null;
	const findings = [...checkOrder(callbacks), ...checkCredit(checked, credit)];
	const reported = contributionOf(conversion)?.conversionRevenueMicros ?? 0;
	const confirmed = netOf(callbacks.filter(({ state }) => state === "delivered"));
	if (findings.length > 0 || confirmed === reported) return { findings, reason: null };
	return { findings, reason: whyDifferent(conversion, credit, callbacks) };
}

function netOf(callbacks: readonly CheckedCallback[]): number {
	return callbacks.reduce((sum, { status, payoutMicros }) => sum + (status === "approved" ? payoutMicros : -payoutMicros), 0);
}

/** Credits and cancellations take turns, and each cancellation is of the credit before it. */
function checkOrder(callbacks: readonly CheckedCallback[]): Finding[] {
	return callbacks.flatMap(({ seq, status, payoutMicros }, at) => {
		const before = at % 2 === 1 ? callbacks[at - 1] : undefined;
		const expected: CallbackStatus = before === undefined ? "approved" : "cancelled";
		if (seq !== at + 1) return [{ field: "order", stored: `number ${seq}`, expected: `number ${at + 1}` }];
		if (status !== expected) return [{ field: "order", stored: `${seq}: ${status}`, expected: `${seq}: ${expected}` }];
		if (before === undefined || before.payoutMicros === payoutMicros) return [];
		return [{ field: "order", stored: `${seq}: ${formatUsd(payoutMicros)}`, expected: `${seq}: ${formatUsd(before.payoutMicros)}` }];
	});
}

/** @param credit the credit that was not taken back, micro-dollars */
function checkCredit({ conversion, events, callbacks, amendments }: CheckedConversion, credit: number | null): Finding[] {
	const { status, stage, revenueMicros, publisherId, pricingModel, test } = conversion;
	if (publisherId === null || pricingModel !== "CPA" || test) {
		// Of a click that was taken away again a credit may be left, and its cancellation.
		const isAsOwed = callbacks.length === 0 || (credit === null && hasLostClick(events));
		return isAsOwed ? [] : [{ field: "not_owed", stored: String(callbacks.length), expected: "0" }];
	}
	if (status === "cancelled" && credit !== null) return [{ field: "credit_stands", stored: formatUsd(credit), expected: null }];
	if (status !== "approved" || stage !== "settled") return [];
	const expected = formatUsd(revenueMicros ?? 0);
	if (credit === null) return [{ field: "no_credit", stored: null, expected }];
	return amendments === "none" || credit === revenueMicros ? [] : [{ field: "credit_amount", stored: formatUsd(credit), expected }];
}

/** An event tells of what it changes: only the first one finds no click before it. */
function hasLostClick(events: CheckedConversion["events"]): boolean {
	return events.some(({ seq, set }) => seq > 1 && set.clickId === null);
}

function whyDifferent(conversion: Conversion, credit: number | null, callbacks: readonly CheckedCallback[]): NetReason {
	const { status, stage, revenueMicros } = conversion;
	const waiting = callbacks.filter(({ state }) => state !== "delivered");
	if (waiting.some(({ state }) => state === "exhausted")) return "exhausted";
	if (waiting.some(({ state }) => state === "no_url")) return "no_url";
	if (waiting.some(({ heldFor }) => heldFor === "pause")) return "paused";
	if (waiting.length > 0) return "not_delivered";
	if (status !== "cancelled" && stage !== "settled") return "held";
	if (status === "approved" && credit !== null && credit !== revenueMicros) return "amount_changed";
	return "pending";
}
