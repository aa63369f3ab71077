/** What is known of a sale, in words. */
import type { Trace } from "../../src/conversions/trace-answer.ts";
import { REASONS } from "./click-reasons.ts";
import { describeEvents } from "./describe-event.ts";

type Conversion = Trace["conversions"][number];
type Callback = Conversion["callbacks"][number];

/** True where nothing is stored under the id. */
export function isUnknown({ clicks, postbacks, conversions }: Trace): boolean {
	return clicks.length + postbacks.length + conversions.length === 0;
}

/** True where a queue, or the wait for a click, still holds a part of it: a look some seconds later shows more. */
export function isOnItsWay({ postbacks, conversions }: Trace): boolean {
	const isSettling = conversions.length === 0 && postbacks.some(({ outcome }) => outcome === "accepted");
	return isSettling || conversions.some(({ stage, callbacks }) => stage === "waiting" || callbacks.some(isUncalled));
}

/** Why nothing can be said of an id, and what to do. @param waitedMs how long was waited for it */
export function sayUnknown(id: string, waitedMs: number): string {
	const within = waitedMs === 0 ? "(yet)" : `after ${waitedMs / 1_000} s of waiting`;
	const hash = /^[0-9a-f]{32}$/i.test(id) ? " It has the form of a click hash, but no such click is stored." : "";
	const advice =
		waitedMs === 0
			? `Clicks and postbacks are stored within seconds of their arrival: --wait looks again for a while.`
			: "Check the id. `npm run operator -- status` shows what waits in queues, and messages that could not be stored.";
	return `Nothing is stored under ${id} ${within}: no click, no transaction, and no postback that names it.${hash}\n${advice}`;
}

/** Everything that was found, the oldest first; not for a trace that {@link isUnknown}. */
export function describeTrace({ truncated, clicks, postbacks, conversions }: Trace): string {
	const lines = [...clicks.flatMap(describeClick), ...postbacks.flatMap(describePostback), ...conversions.flatMap(describeConversion)];
	if (clicks.length > 0 && postbacks.length + conversions.length === 0) lines.push("No platform has reported a sale of it (yet).");
	if (conversions.length === 0 && postbacks.some(({ outcome }) => outcome === "accepted"))
		lines.push("What was accepted is being settled: look again in some seconds, or with --wait.");
	if (truncated) lines.push("There is more: only the newest hundred of each are shown.");
	return lines.join("\n");
}

function describeClick(click: Trace["clicks"][number]): string[] {
	const { click_hash, reason, flags, clicked_at, publisher, publisher_click_id, brand, campaign_id, platform, pricing_model } = click;
	const who = `publisher ${publisher ?? "unknown"}${publisher_click_id === null ? "" : ` (its click id ${publisher_click_id})`}`;
	const what = `${brand ?? "unknown brand"}, campaign ${campaign_id}, platform ${platform ?? "none"}, ${pricing_model ?? "no pricing model"}`;
	const judged = `${reason === null ? "billed" : `not billed: ${REASONS[reason]}`}${flags.length === 0 ? "" : `; flagged: ${flags.map((rule) => REASONS[rule]).join(", ")}`}`;
	return [`${clicked_at}  click ${click_hash}, ${judged}`, `    ${who}, ${what}`];
}

function describePostback({ received_at, platform, method, query, outcome, answer }: Trace["postbacks"][number]): string[] {
	return [
		`${received_at}  postback ${outcome}, ${method} from ${platform === null ? "an unknown key" : outcome === "unknown_key" ? `a key of ${platform} that has ended` : platform}`,
		`    ${query}`,
		`    answered ${JSON.stringify(answer)}`,
	];
}

function describeConversion(conversion: Conversion): string[] {
	const { platform, txnid, stage, status, verdict, test, currency, why, credited, events, callbacks } = conversion;
	const held = stage === "quarantined" && why !== null ? ((credited ? CREDITED_HOLDS[why] : null) ?? HOLDS[why]) : undefined;
	return [
		`Transaction ${txnid} of ${platform}: ${stage}, ${status}${test ? ", a test" : ""}${verdict === null ? "" : `, ${verdict} by an operator`}`,
		...(held === undefined ? [] : [`    ${held}`]),
		...(conversion.status_unknown
			? [`    the platform's status ${JSON.stringify(conversion.network_status)} is known to no map: pending until it says another`]
			: []),
		`    ${describeEarnings(conversion)}`,
		`    ${describeAttribution(conversion)}`,
		...describeEvents(events, currency).map((line) => `    ${line}`),
		...(callbacks.length === 0 ? ["    no callback"] : callbacks.flatMap(describeCallback)),
	];
}

/** @example "earns acme-media 0.8000 USD (80 %) of 1.0000 USD paid" */
function describeEarnings({ status, payout, currency, gross_usd, revenue_share, publisher_revenue, publisher }: Conversion): string {
	const paid = `${payout} ${currency}${currency === "USD" || gross_usd === null ? "" : ` (${gross_usd} USD)`}`;
	if (publisher === null) return `${paid} paid, and no publisher is known yet`;
	if (publisher_revenue === null) return `${paid} paid, and what ${publisher} earns is not settled yet`;
	const share = revenue_share === null ? "" : ` (${Number((revenue_share * 100).toFixed(4))} %)`;
	if (status === "cancelled")
		return `cancelled: ${publisher} earns nothing; it would have been ${publisher_revenue} USD${share} of ${paid}`;
	return `earns ${publisher} ${publisher_revenue} USD${share} of ${paid} paid`;
}

function describeAttribution({ attribution, why, retry_at }: Conversion): string {
	if (attribution !== null) return `click found by ${attribution.replaceAll("_", " ")}`;
	const reason = why === null ? "" : `: ${why.replaceAll("_", " ")}`;
	return `no click found yet${reason}${retry_at === null ? "" : `; looked for again at ${retry_at}`}`;
}

function describeCallback(callback: Callback): string[] {
	const { created_at, status, payout, state, next_attempt_at, attempts } = callback;
	const stands = isUncalled(callback)
		? `due, on its way${next_attempt_at === null ? "" : ` (first attempt ${next_attempt_at})`}`
		: `${STATES[state] ?? state}${next_attempt_at === null ? "" : `, next attempt ${next_attempt_at}`}`;
	return [
		`    ${created_at}  callback ${status} of ${payout} USD: ${stands}`,
		...attempts.map(
			({ at, http_status, latency_ms, answer }) =>
				`        ${at}  ${http_status === null ? "no answer" : `HTTP ${http_status}`} after ${latency_ms} ms${answer === "" ? "" : `: ${answer}`}`,
		),
	];
}

const HOLDS: Record<string, string> = {
	no_rate: "waits for the exchange rate of its day and currency",
	amount: "its amount is above the ceiling: credited to nobody until an operator releases it",
	review: "its click was embedded or prefetched: credited to nobody until an operator releases or voids it",
	publisher_suspended: "its publisher is suspended: credited to nobody until it is active again",
};
/** What is held although it was credited: somebody has to look. */
const CREDITED_HOLDS: Record<string, string> = {
	no_rate:
		"needs a person: it was credited, and has no exchange rate any more, so that no report shows what the publisher holds; import the rate, or void it",
};
const STATES: Record<string, string> = {
	exhausted: "exhausted: it is not tried again",
	no_url: "not sent: the publisher has no callback address",
};

/** Due, and never attempted: on the queue, or held behind another one. */
function isUncalled({ state, attempts }: Callback): boolean {
	return state === "due" && attempts.length === 0;
}
