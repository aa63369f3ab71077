import { ACME, PLATFORMS, PUBLISHERS } from "../demo/well-known.ts";
import { DEMO_BID_REQUEST, DEMO_CLICKED_PATH, DEMO_OPENRTB_PATH, DEMO_SERVING_ENGINE_PATH } from "./demo-network.ts";

/** What `npm start` prints once the server runs: where it is, the demo's credentials, and commands that work as they stand. */
export function describeServer(origin: string, content: "demo" | "own" | "nothing"): string {
	const url = origin.endsWith(":8787") ? "" : ` --url ${origin}`;
	const commands = content === "demo" ? describeDemo(origin, url) : content === "own" ? describeOwn(url) : describeNothing(url);
	return `\nReady on ${origin}   (Ctrl-C stops it; what is stored stays; npm run reset clears it)\n\n${commands}\n`;
}

function describeDemo(origin: string, url: string): string {
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
		"A bid by OpenRTB 2.5:",
		`  curl -s ${origin}${DEMO_OPENRTB_PATH} -H 'Content-Type: application/json' -d '${JSON.stringify(DEMO_BID_REQUEST)}'`,
		"",
		"A bid by the Serving Engine, with a search keyword:",
		`  curl -s '${origin}${DEMO_SERVING_ENGINE_PATH}'`,
		"",
		...describeSale(origin, url),
		"The brands that a publisher may promote, and a product search:",
		`  curl -s --compressed ${origin}/api/brands-list -H 'AccessKey: ${ACME.access_key}'`,
		`  curl -s '${origin}/api/products/search?keyword=running+shoes' -H 'PublisherKey: ${ACME.publisher_key}'`,
		"",
		"Why a request gets the bid it gets, or none:",
		`  npm run operator -- explain scripts/examples/bid-request.json --identity ${PUBLISHERS[0]?.publisher_identity}${url}`,
		"",
		"Your own network instead of, or beside, the demo:",
		`  npm run operator -- import scripts/examples/network.json${url}`,
		"",
		`Every endpoint, to read and to try: ${origin}/docs`,
	].join("\n");
}

/** From a bid that is clicked to what it earned. curl is a robot by its own words, and robots' clicks do not count: hence a browser's name. */
function describeSale(origin: string, url: string): string[] {
	return [
		"A bid that is clicked: the link to the platform, with the click hash in it (sub=):",
		`  CLICK=$(curl -s '${origin}${DEMO_CLICKED_PATH}' | sed 's/.*"redirect_url":"\\([^"]*\\)".*/\\1/')`,
		`  LINK=$(curl -s -o /dev/null -w '%{redirect_url}' -A 'Mozilla/5.0 Firefox/150.0' "$CLICK"); echo "$LINK"`,
		"",
		"The platform reports a sale of that click. Sales take longer than the two seconds in which clicks are stored; this one has to wait:",
		`  sleep 3; curl -s "${origin}/api/postback/${PLATFORMS[0]?.access_key}?txnid=T-1001&cid=\${LINK##*sub=}&edate=$(date +%s)&payout=12.34&sales=99.99"`,
		"",
		"All that is known of the sale, and what the publisher has earned today:",
		`  npm run operator -- trace T-1001${url}`,
		`  curl -s ${origin}/api/reporting/revenue-share -H 'AccessKey: ${ACME.access_key}' -d report_type=daywise -d start_date=$(date -u +%F) -d end_date=$(date -u +%F)`,
		"",
	];
}

function describeOwn(url: string): string {
	return [
		"The demo's brand shoes.example does not bid here: you have your own network. Ask why a request gets a bid, or none:",
		`  npm run operator -- explain REQUEST.json --identity PUBLISHER_IDENTITY${url}`,
	].join("\n");
}

function describeNothing(url: string): string {
	return [
		"No network is imported yet, so nothing gets a bid. Import yours:",
		`  npm run operator -- import scripts/examples/network.json${url}`,
	].join("\n");
}

function table(rows: readonly string[][]): string {
	const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
	return `${rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd()).join("\n")}\n`;
}
