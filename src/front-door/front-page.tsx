/** GET `/`, for people: what runs here, and where to go. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { NetworkState } from "./network-state.ts";

/** The service's addresses, by what is asked of them. */
export type Addresses = { rtbUrl: string; clickUrl: string; trackerUrl: string; baseUrl: string; consoleUrl: string };

const NETWORK: Readonly<Record<NetworkState, JSX.Element>> = {
	demo: (
		<>
			The demo network is loaded. Its keys are known to anyone: it is for trying things out, not for money. The examples of the guides work
			against it.
		</>
	),
	own: <>A network is loaded, and it is not the demo.</>,
	nothing: (
		<>
			No network is loaded yet, so nothing gets a bid. An operator imports one: <code>npm run operator -- import FILE</code>
		</>
	),
	unknown: <>Which network is loaded cannot be read just now.</>,
};

export function FrontPage({ network, addresses }: { network: NetworkState; addresses: Addresses }): JSX.Element {
	const { rtbUrl, clickUrl, trackerUrl, baseUrl, consoleUrl } = addresses;
	return (
		<>
			<h1>Clickbourse</h1>
			<p>
				A publisher affiliate network with real-time ad serving: publishers ask for a brand or a keyword, are answered what a click earns
				and where to send it, and see what became of it.
			</p>
			<p>{NETWORK[network]}</p>
			<h2>Where to go</h2>
			<dl>
				<dt>
					<a href={`${consoleUrl}/console`}>Console</a>
				</dt>
				<dd>Earnings, clicks, conversions, links and settings of publishers; the desk of operators. Sign-in by a link or a passkey.</dd>
				<dt>
					<a href="/docs/publishers">Guides</a>
				</dt>
				<dd>What to integrate, step by step, for publishers and platforms.</dd>
				<dt>
					<a href="/docs">API reference</a>
				</dt>
				<dd>
					Every endpoint, to read and to try. For generators: <a href="/openapi.json">/openapi.json</a> and, for operators,{" "}
					<a href="/openapi-operator.json">/openapi-operator.json</a>.
				</dd>
			</dl>
			<h2>Addresses</h2>
			<dl>
				<dt>Bids</dt>
				<dd>
					<code>{rtbUrl}</code>
				</dd>
				<dt>Clicks</dt>
				<dd>
					{[...new Set([clickUrl, trackerUrl])].map((url) => (
						<>
							<code>{url}</code>{" "}
						</>
					))}
				</dd>
				<dt>Everything under /api</dt>
				<dd>
					<code>{baseUrl}</code>
				</dd>
			</dl>
		</>
	);
}
