/** An event of a conversion in words: what it set, with amounts as amounts and times as times. */
import type { Trace } from "../../src/conversions/trace-answer.ts";
import { formatUsd } from "../../src/lib/money.ts";

type Event = Trace["conversions"][number]["events"][number];

/** Amounts that stand in the conversion's own currency; all others are USD. */
const IN_OWN_CURRENCY = new Set(["payoutMicros", "salesMicros"]);
const LABELS: Record<string, string> = { grossMicros: "gross", salesUsdMicros: "sales", revenueMicros: "earned", cid: "cid" };

const NOT_HELD = "no longer held";

/** A line each, with amounts in the currency that the conversion had then. @param events all, the oldest first @param currency of now */
export function describeEvents(events: readonly Event[], currency: string): string[] {
	let then = currency;
	return events.map((event) => {
		then = currencyOf(event, then);
		return describeEvent(event, then);
	});
}

/**
 * One line.
 * @param currency of the conversion, where the event does not set it
 * @example "2026-11-21T22:33:35.112Z  attributed: stage settled, gross 12.3400 USD, earned 9.8720 USD, revenue share 80 %"
 */
export function describeEvent(event: Event, currency: string): string {
	const { at, kind, set, why } = event;
	const own = currencyOf(event, currency);
	// An event of this kind also ends what was held and is voided: that is no release.
	const isLetGo = kind === "released" && set.heldFor === null;
	const told = Object.entries(set)
		.filter(([name, value]) => value !== false && !isSaid(name, own, set) && !(isLetGo && name === "heldFor"))
		.map(([name, value]) => describeField(name, value, own));
	return `${at}  ${isLetGo ? NOT_HELD : kind}${why === undefined ? "" : ` (${why.replaceAll("_", " ")})`}${told.length === 0 ? "" : `: ${told.join(", ")}`}`;
}

function currencyOf({ set }: Event, before: string): string {
	return typeof set.currency === "string" ? set.currency : before;
}

/** True for what the other fields' amounts say already. */
function isSaid(name: string, currency: string, set: Event["set"]): boolean {
	return (name === "currency" && "payoutMicros" in set) || (name === "usdNanos" && currency === "USD");
}

function describeField(name: string, value: unknown, currency: string): string {
	if (name === "heldFor") return value === null ? NOT_HELD : `held for ${String(value).replaceAll("_", " ")}`;
	const label = LABELS[name] ?? name.replace(/(?:Micros|Nanos|Ppm)$/, "").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
	if (value === null) return `no ${label}`;
	if (value === true) return label;
	if (typeof value !== "number") return `${label} ${String(value)}`;
	if (name.endsWith("Micros")) return `${label} ${formatUsd(value)} ${IN_OWN_CURRENCY.has(name) ? currency : "USD"}`;
	if (name === "usdNanos") return `1 ${currency} = ${value / 1_000_000_000} USD`;
	if (name.endsWith("Ppm")) return `${label} ${value / 10_000} %`;
	return `${label} ${name.endsWith("At") ? new Date(value).toISOString() : value}`;
}
