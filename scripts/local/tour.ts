import { PLATFORMS, PUBLISHERS } from "../demo/well-known.ts";
import { DEMO_BID_REQUEST, DEMO_OPENRTB_PATH, DEMO_SERVING_ENGINE_PATH } from "./demo-network.ts";

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
		"Why a request gets the bid it gets, or none:",
		`  npm run operator -- explain scripts/examples/bid-request.json --identity ${PUBLISHERS[0]?.publisher_identity}${url}`,
		"",
		"Your own network instead of, or beside, the demo:",
		`  npm run operator -- import scripts/examples/network.json${url}`,
	].join("\n");
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
