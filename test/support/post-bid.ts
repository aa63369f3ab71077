/** Sends bodies to the OpenRTB endpoint of the Worker under test, and reads what came of them. */
import { exports } from "cloudflare:workers";
import { findClickUrl } from "./golden/normalise.ts";
import { openClick } from "./golden/open-click.ts";
import "./worker-env.ts";

const URL_OF_ACME = "http://rtb.example/openrtb/acme_rtb";

export function postBid(body: BodyInit | null, headers: Record<string, string> = {}, url = URL_OF_ACME): Promise<Response> {
	return exports.default.fetch(new Request(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body }));
}

/** A body of unknown length, sent in chunks. */
export function chunked(bytes: Uint8Array, chunkSize = 10_000): ReadableStream<Uint8Array> {
	let at = 0;
	return new ReadableStream({
		pull(controller) {
			if (at >= bytes.length) return controller.close();
			controller.enqueue(bytes.slice(at, at + chunkSize));
			at += chunkSize;
		},
	});
}

/** All that an answer decides, without what is fresh in each: two requests that mean the same get the same verdict. */
export type Verdict = { status: number; headers: Record<string, string>; body: unknown; params: [string, string][]; token: unknown };

export async function readVerdict(response: Response): Promise<Verdict> {
	const { status } = response;
	const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== "content-length"));
	const text = await response.text();
	const body: unknown = text === "" ? null : JSON.parse(text);
	const url = findClickUrl(body);
	if (url === null) return { status, headers, body, params: [], token: null };
	const { params, token } = await openClick(url);
	const { auctionId: _, ...lasting } = token;
	return { status, headers, body: withoutFresh(body), params, token: lasting };
}

const FRESH = new Set(["bidid", "adm", "redirect_url"]);

function withoutFresh(value: unknown, inside = ""): unknown {
	if (Array.isArray(value)) return value.map((item) => withoutFresh(item, inside));
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).filter(([key]) => !FRESH.has(key) && !(inside === "bid" && key === "id"));
	return Object.fromEntries(entries.map(([key, item]) => [key, withoutFresh(item, key)]));
}
