import { importReportSchema } from "../../src/operator/network/import-answer.ts";
import { buildDemoNetwork } from "../demo/build-demo-network.ts";
import type { NetworkFile } from "../demo/network-file.ts";
import { ACME } from "../demo/well-known.ts";
import { Failure } from "../local/failure.ts";
import { callOperator } from "../operator/call-operator.ts";
import { readAnswer } from "../operator/read-answer.ts";

const READY_TIMEOUT_MS = 30_000;
const POLL_MS = 200;

/** The requests that `npm start` prints; both get a bid from the demo network at any hour. */
export const DEMO_BID_REQUEST = {
	id: "auction-1",
	imp: [{ id: "1", bidfloor: 0.1, bidfloorcur: "USD" }],
	site: { domain: "shoes.example" },
	device: { geo: { country: "USA" } },
} as const;
export const DEMO_OPENRTB_PATH = `/openrtb/${ACME.publisher_identity}`;
export const DEMO_SERVING_ENGINE_PATH = `/serving-engine?pubi=${ACME.publisher_id}&bd=shoes.example&cc=US&kw=running+shoes`;
export const DEMO_CLICKED_PATH = `/serving-engine?pubi=${ACME.publisher_id}&bd=shoes.example&cc=US&clickid=my-click-1&subid=sidebar`;

/**
 * Imports the demo network and waits until it is bid on. Returns a line that says what was loaded.
 * @param callbackOrigin where publishers that take callbacks get them; null leaves them the addresses of the demo, which nobody answers at
 */
export async function loadDemo(origin: string, operatorKey: string, callbackOrigin: string | null): Promise<string> {
	const network = JSON.stringify(withCallbacksTo(callbackOrigin, buildDemoNetwork()));
	const answer = await callOperator({ origin, key: operatorKey, keySource: "the environment or .dev.vars" }, "/operator/network", network);
	if (answer.status !== 200) {
		throw new Failure(
			`The demo network was refused: HTTP ${answer.status} ${JSON.stringify(answer.body).slice(0, 2_000)}\n` +
				"Run `npm run reset` and `npm start` again; if that does not help, this is a fault of the project worth reporting.",
		);
	}
	const deadline = Date.now() + READY_TIMEOUT_MS;
	while (!(await demoAnswersBids(origin))) {
		if (Date.now() > deadline)
			throw new Failure("The demo network was imported, but is not bid on. Run `npm run reset`, then `npm start` again.");
		await new Promise((resolve) => setTimeout(resolve, POLL_MS));
	}
	const { counts } = readAnswer(importReportSchema, answer.body);
	return `Loaded ${counts.brands} brands, ${counts.campaigns} campaigns, ${counts.publishers} publishers, ${counts.products} products and ${counts.seller_products} seller products.`;
}

function withCallbacksTo(callbackOrigin: string | null, network: NetworkFile): NetworkFile {
	if (callbackOrigin === null) return network;
	const publishers = network.publishers?.map((publisher) =>
		publisher.callback_url === null ? publisher : { ...publisher, callback_url: `${callbackOrigin}/${publisher.id}` },
	);
	return { ...network, ...(publishers !== undefined && { publishers }) };
}

/** True where a network was imported: there is a campaign book. */
export async function isReady(origin: string): Promise<boolean> {
	const response = await fetch(`${origin}/ready`);
	await response.body?.cancel();
	if (response.status === 200 || response.status === 503) return response.ok;
	throw new Failure(`GET ${origin}/ready answered HTTP ${response.status}. Is this the right server?`);
}

/** True where both of the demo's requests get a bid: the demo network is loaded and nothing has replaced it. */
export async function demoAnswersBids(origin: string): Promise<boolean> {
	const openRtb = await fetch(origin + DEMO_OPENRTB_PATH, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(DEMO_BID_REQUEST),
	});
	await openRtb.body?.cancel();
	const servingEngine: unknown = await (await fetch(origin + DEMO_SERVING_ENGINE_PATH)).json();
	const isAd = typeof servingEngine === "object" && servingEngine !== null && "status" in servingEngine && servingEngine.status === 1;
	return openRtb.status === 200 && isAd;
}
