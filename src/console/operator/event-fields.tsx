/** What an event of a conversion has set, in words: each field with its value as people read it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatUsd } from "../../lib/money.ts";
import { None, Time } from "../ui/values.tsx";

/** Of the platform, in its own currency. */
const IN_OWN_CURRENCY: ReadonlySet<string> = new Set(["payoutMicros", "salesMicros"]);

export function EventFields({ set }: { set: Readonly<Record<string, unknown>> }): JSX.Element {
	return (
		<ul class="plain">
			{Object.entries(set).map(([name, value]) => (
				<li>
					<span class="note">{wordsOf(name)}:</span> {shown(name, value)}
				</li>
			))}
		</ul>
	);
}

/** `revenueSharePpm` is "revenue share". */
function wordsOf(name: string): string {
	if (name === "usdNanos") return "USD for one of its currency";
	return name
		.replace(/(?:Micros|Ppm|Nanos)$/, "")
		.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
		.replaceAll("usd", "USD");
}

function shown(name: string, value: unknown): JSX.Element | string {
	if (value === null || value === undefined || value === "") return <None />;
	if (typeof value === "number") {
		if (name.endsWith("At")) return <Time at={value} />;
		if (name.endsWith("Micros")) return `${formatUsd(value)}${IN_OWN_CURRENCY.has(name) ? "" : " USD"}`;
		if (name.endsWith("Ppm")) return `${value / 10_000}%`;
		if (name.endsWith("Nanos")) return String(value / 1e9);
	}
	if (typeof value === "boolean") return value ? "yes" : "no";
	return typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value);
}
