import { ACME, PLATFORMS, PUBLISHERS } from "../demo/well-known.ts";
import { DEMO_BID_REQUEST, DEMO_CLICKED_PATH, DEMO_OPENRTB_PATH, DEMO_SERVING_ENGINE_PATH } from "./demo-network.ts";
import type { DemoLinks } from "./demo-sign-in.ts";

/**
 * What `npm start` prints once the server runs: where it is, the demo's credentials, and commands that work as they stand, one by one
 * or pasted in one go: what stands between them is a comment, without characters that mean something to a shell that has none.
 * @param callbackOrigin where callbacks to this machine arrive and are shown; null where nothing receives them
 * @param links into the console; null where there are none
 */
export function describeServer(
	origin: string,
	content: "demo" | "own" | "nothing",
	callbackOrigin: string | null,
	links: DemoLinks | null,
): string {
	const commands = content === "demo" ? describeDemo(origin, callbackOrigin) : content === "own" ? describeOwn() : describeNothing();
	const signIns =
		links === null
			? []
			: [
					[`The console, as the publisher ${ACME.name}`, links.publisher],
					["The console, as the operator", links.operator],
				];
	const pages = table([
		["What runs here, and where to go", `${origin}/`],
		["Guides for publishers and platforms", `${origin}/docs/publishers`],
		["Every endpoint, to read and to try", `${origin}/docs`],
		...signIns,
	]);
	return `\nReady on ${origin}   (Ctrl-C stops it; what is stored stays; npm run reset clears it)\n\nIn a browser:\n${pages}\n${commands}\n`;
}

const OPERATOR = "npm run --silent operator --";

function describeDemo(origin: string, callbackOrigin: string | null): string {
	const publishers = PUBLISHERS.map((publisher) => [
		publisher.name,
		publisher.openrtb_enabled ? publisher.publisher_identity : "-",
		publisher.serving_engine_enabled ? publisher.publisher_id : "-",
		publisher.access_key,
		publisher.publisher_key,
	]);
	const platforms = PLATFORMS.map((platform) => [platform.name, platform.access_key ?? "-"]);
	return [
		"Publishers of the demo network:",
		table([["Name", "OpenRTB identity", "pubi", "AccessKey", "PublisherKey"], ...publishers]),
		"Platforms:",
		table([["Name", "Platform key"], ...platforms]),
		...(callbackOrigin === null ? [] : [`What the publishers are called back with: here, and at ${callbackOrigin}/`]),
		"",
		"# To be pasted into a second terminal, in this folder: one by one, or all at once",
		"",
		"# A bid by OpenRTB 2.5",
		`curl -s ${origin}${DEMO_OPENRTB_PATH} -H 'Content-Type: application/json' -d '${JSON.stringify(DEMO_BID_REQUEST)}'; echo`,
		"",
		"# A bid by the Serving Engine, with a search keyword",
		`curl -s '${origin}${DEMO_SERVING_ENGINE_PATH}'; echo`,
		"",
		...describeSale(origin, callbackOrigin),
		"# The brands that a publisher may promote, and a product search: how the answers begin",
		`curl -s --compressed ${origin}/api/brands-list -H 'AccessKey: ${ACME.access_key}' | head -c 600; echo`,
		`curl -s '${origin}/api/products/search?keyword=running+shoes' -H 'PublisherKey: ${ACME.publisher_key}' | head -c 600; echo`,
		"",
		"# Why a request gets the bid it gets, or none",
		`${OPERATOR} explain scripts/examples/bid-request.json --identity ${PUBLISHERS[0]?.publisher_identity}`,
		"",
		...(callbackOrigin === null
			? ["# A network of your own, beside the demo", `${OPERATOR} import scripts/examples/network.json`]
			: [
					"# A network of your own, beside the demo, whose callbacks arrive here too",
					`sed 's|https://kitchen-notes.example/s2s|${callbackOrigin}/kitchen-notes|' scripts/examples/network.json | ${OPERATOR} import -`,
				]),
	].join("\n");
}

/** From a bid that is clicked to what it earned. curl names itself as a robot, whose clicks do not count: so it takes a browser's name. */
function describeSale(origin: string, callbackOrigin: string | null): string[] {
	return [
		"# A bid that is clicked: the link to the platform, with the click hash in it",
		`CLICK=$(curl -s '${origin}${DEMO_CLICKED_PATH}' | sed 's/.*"redirect_url":"\\([^"]*\\)".*/\\1/')`,
		`LINK=$(curl -s -o /dev/null -w '%{redirect_url}' -A 'Mozilla/5.0 Firefox/150.0' "$CLICK"); echo "$LINK"`,
		"",
		"# The platform reports a sale of that click. A click is stored within two seconds or so",
		`sleep 3; curl -s "${origin}/api/postback/${PLATFORMS[0]?.access_key}?txnid=T-1001&cid=\${LINK##*sub=}&edate=$(date +%s)&payout=12.34&sales=99.99"; echo`,
		"",
		"# All that is known of the sale, what the publisher has earned today, and what it was called back with",
		`${OPERATOR} trace T-1001 --wait`,
		`curl -s ${origin}/api/reporting/revenue-share -H 'AccessKey: ${ACME.access_key}' -d report_type=daywise -d start_date=$(date -u +%F) -d end_date=$(date -u +%F); echo`,
		...(callbackOrigin === null ? [] : [`curl -s ${callbackOrigin}/`]),
		"",
	];
}

function describeOwn(): string {
	return [
		"The demo's brand shoes.example does not bid here: you have your own network. Ask why a request gets a bid, or none:",
		`  ${OPERATOR} explain REQUEST.json --identity PUBLISHER_IDENTITY`,
	].join("\n");
}

function describeNothing(): string {
	return ["No network is imported yet, so nothing gets a bid. Import yours:", `  ${OPERATOR} import scripts/examples/network.json`].join(
		"\n",
	);
}

function table(rows: readonly string[][]): string {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
	return `${rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd()).join("\n")}\n`;
}
