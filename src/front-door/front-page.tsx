/** GET `/`, for people: what runs here, and where to go. */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { Layout, Stylesheet } from "../console/ui/layout.tsx";
import { Notice } from "../console/ui/messages.tsx";
import type { NetworkState } from "./network-state.ts";

/** The service's addresses, by what is asked of them. */
export type Addresses = { rtbUrl: string; clickUrl: string; trackerUrl: string; baseUrl: string };

export function FrontPage({ network, addresses }: { network: NetworkState; addresses: Addresses }): JSX.Element {
	const { rtbUrl, clickUrl, trackerUrl, baseUrl } = addresses;
	const served = [
		{ url: rtbUrl, what: "bids" },
		{ url: clickUrl, what: "links of bids and products" },
		{ url: trackerUrl, what: "links of brands" },
		{ url: baseUrl, what: "everything under /api" },
	];
	return (
		<Layout title="Publisher affiliate network">
			<Stylesheet name="guides.css" />
			<p>
				Publishers ask for a brand or a keyword, and are answered in real time what a click earns and where to send the user; or they link
				to brands and products. The sales that follow are settled here, and told to them.
			</p>
			<NetworkNotice network={network} />
			<div class="doors">
				<Door href="/console" title="Console">
					Publishers see their earnings, clicks and conversions, make links and change settings; operators run the network. You need an
					invitation.
				</Door>
				<Door href="/docs/publishers" title="Guides">
					How to integrate, for publishers and for platforms that report sales. Begin here.
				</Door>
				<Door href="/docs" title="API reference">
					Every endpoint, to read and to try. Also as OpenAPI: <a href="/openapi.json">publishers</a>,{" "}
					<a href="/openapi-operator.json">operators</a>.
				</Door>
			</div>
			<h2>Addresses of this network</h2>
			<dl class="hosts">
				{[...Map.groupBy(served, ({ url }) => url)].map(([url, group]) => (
					<>
						<dt>
							<code>{url}</code>
						</dt>
						<dd>{group.map(({ what }) => what).join(", ")}</dd>
					</>
				))}
			</dl>
		</Layout>
	);
}

function NetworkNotice({ network }: { network: NetworkState }): JSX.Element {
	switch (network) {
		case "demo":
			return (
				<Notice title="The demo network is loaded.">
					Its keys are public: it is for trying things out, never for money. The examples in the guides work against it, and{" "}
					<code>npm start</code> prints links to sign in.
				</Notice>
			);
		case "own":
			return <Notice title="A network is loaded.">It is not the demo.</Notice>;
		case "nothing":
			return (
				<Notice tone="waiting" title="No network is loaded yet,">
					so nothing gets a bid. An operator imports one: <code>npm run operator -- import FILE</code>
				</Notice>
			);
		case "unknown":
			return (
				<Notice tone="waiting" title="The database cannot be read just now,">
					so this page cannot say which network is loaded.
				</Notice>
			);
	}
}

function Door({ href, title, children }: { href: string; title: string; children: Child }): JSX.Element {
	return (
		<div class="panel">
			<h2>
				<a href={href}>{title}</a>
			</h2>
			<p>{children}</p>
		</div>
	);
}
