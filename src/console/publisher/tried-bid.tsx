/** What an adapter is answered, and what it makes of it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { parseJson } from "../../lib/json.ts";
import type { Tried } from "../../publisher-api/try-own.ts";
import { Facts } from "../ui/table.tsx";

export function TriedBid({ tried: { explanation, answer, link } }: { tried: Tried }): JSX.Element {
	const { decision, endpoint } = explanation;
	const isBid = decision.outcome === "bid";
	return (
		<section>
			<h2>What your adapter is answered</h2>
			{isBid && endpoint === "openrtb" ? (
				<p>
					Asked with <code>"test": 1</code>, so its <code>price</code> is 0 and its link earns nothing. Without it the price is{" "}
					<code>{decision.price}</code>.
				</p>
			) : null}
			{isBid && endpoint === "serving-engine" ? (
				<p>The Serving Engine has no tests: this is a bid, and a click on its link counts as any other.</p>
			) : null}
			<Facts
				facts={[
					["Status", `HTTP ${answer.status}`],
					...answer.headers.map(([name, value]) => [name, <code>{value}</code>] as const),
					...(decision.outcome === "bid" && link !== null ? ([["Rendered", <Ad domain={decision.domain} link={link} />]] as const) : []),
				]}
			/>
			{answer.body === "" ? (
				<p>The answer has no body.</p>
			) : (
				// By keyboard, what scrolls can only be scrolled where it has the focus.
				<pre tabindex={0}>{pretty(answer.body)}</pre>
			)}
		</section>
	);
}

/** As little as a seller's page has to make of `adm`: a text that leads to its link. */
function Ad({ domain, link }: { domain: string; link: string }): JSX.Element {
	return (
		<a href={link} target="_blank" rel="noopener noreferrer">
			{domain}
		</a>
	);
}

function pretty(body: string): string {
	const json = parseJson(body);
	return json === undefined ? body : JSON.stringify(json, null, 2);
}
