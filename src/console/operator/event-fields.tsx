/** What an event of a conversion has set, in words: each field with its value as people read it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { None, Time } from "../ui/values.tsx";

const IN_USD: ReadonlySet<string> = new Set(["gross_usd", "sales_usd", "publisher_revenue"]);

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

/** `revenue_share` is "revenue share". */
function wordsOf(name: string): string {
	if (name === "usd_rate") return "USD for one of its currency";
	return name.replace(/_usd$/, "").replaceAll("_", " ");
}

function shown(name: string, value: unknown): JSX.Element | string {
	if (value === null || value === undefined || value === "") return <None />;
	if (typeof value === "string" && name.endsWith("_at")) return <Time at={value} />;
	if (typeof value === "number" && name === "revenue_share") return `${Number((value * 100).toFixed(4))}%`;
	if (IN_USD.has(name)) return `${String(value)} USD`;
	if (typeof value === "boolean") return value ? "yes" : "no";
	return typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value);
}
