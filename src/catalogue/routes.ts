/** GET /api/brands-list and /api/brands-list-by-traffic-type. */
import { type Context, Hono } from "hono";
import type { LinkTokens } from "../click-token/link-token.ts";
import type { Database } from "../db/client.ts";
import type { KeyOwners } from "../keys/key-owners.ts";
import type { WaitUntil } from "../lib/async.ts";
import { jsonResponse, methodNotAllowed, unauthorized } from "../lib/http.ts";
import { type ListRequest, readTrafficType } from "./list-request.ts";
import { type ListState, type ListStates, nameVersion } from "./list-states.ts";
import type { ReadyLists } from "./ready-lists.ts";
import { writeList } from "./write-list.ts";

export type CatalogueDeps = {
	db: Database;
	keys: KeyOwners;
	states: ListStates;
	links: LinkTokens;
	ready: ReadyLists;
	/** Origin of tracking links, without a trailing slash. */
	trackerUrl: string;
};

/** A list is one publisher's own. Every use asks whether it is still right, which costs next to nothing. */
const LIST_HEADERS = { "cache-control": "private, no-cache", vary: "AccessKey, Accept-Encoding" } as const;
const FAULT_HEADERS = { "cache-control": "no-store", vary: LIST_HEADERS.vary } as const;

export function catalogueRoutes(deps: CatalogueDeps): Hono {
	const app = new Hono();
	app.get("/brands-list", (c) => answer(deps, c, () => ({ request: { by: "domain" } })));
	app.get("/brands-list-by-traffic-type", (c) =>
		answer(deps, c, () => {
			const read = readTrafficType(c.req.query("traffic_type"));
			return "fault" in read ? read : { request: { by: "country", ...read } };
		}),
	);
	for (const path of ["/brands-list", "/brands-list-by-traffic-type"]) {
		app.all(path, () => methodNotAllowed("GET, HEAD"));
	}
	return app;
}

/** The key comes first: who has none learns nothing of the rest. */
async function answer(deps: CatalogueDeps, c: Context, read: () => { request: ListRequest } | { fault: string }): Promise<Response> {
	const waitUntil = (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise);
	const owner = await deps.keys.find("access_key", c.req.header("AccessKey"), waitUntil);
	const state = owner === null ? null : await deps.states.read(owner);
	if (state === null || state.publisher.status === "suspended") return unauthorized(FAULT_HEADERS);
	const asked = read();
	if ("fault" in asked) return jsonResponse({ success: false, message: asked.fault }, 400, FAULT_HEADERS);
	const { trackerUrl } = deps;
	const version = await nameVersion(state, asked.request, { trackerUrl, keyFingerprint: await deps.links.fingerprint() });
	// Weak: the same list comes compressed or not.
	const headers = { ...LIST_HEADERS, etag: `W/"${version}"` };
	if (matches(c.req.header("If-None-Match"), version)) return new Response(null, { status: 304, headers });
	if (c.req.method === "HEAD") return new Response(null, { headers: { ...headers, "content-type": "application/json" } });
	const gzip = acceptsGzip(clientEncodings(c.req.raw));
	const list = await openList(deps, { state, request: asked.request, version, gzip }, waitUntil);
	if (list === null) return jsonResponse(emptyList(asked.request), 200, headers);
	return new Response(list, {
		headers: { ...headers, "content-type": "application/json", ...(gzip && { "content-encoding": "gzip" }) },
		// The bytes are compressed already.
		...(gzip && { encodeBody: "manual" }),
	});
}

type Asked = { state: ListState; request: ListRequest; version: string; gzip: boolean };

/** The list as a stream, as it was kept or written now; null where no brand matches. */
async function openList(
	deps: CatalogueDeps,
	{ state, request, version, gzip }: Asked,
	waitUntil: WaitUntil,
): Promise<ReadableStream<Uint8Array> | null> {
	const kept = await deps.ready.find(version, gzip);
	if (kept !== null) return kept;
	const list = await writeList(deps, state.publisher, request);
	if (list === null) return null;
	// Brands that change while a list is written make it a mixture: sent with a version that is past already, and not kept.
	const isStill = async () => (await deps.states.readNow(state.publisher.id))?.catalogueVersion === state.catalogueVersion;
	return deps.ready.keep({ isStill, waitUntil }, version, list, gzip);
}

function emptyList({ by }: ListRequest) {
	return by === "domain" ? { success: true, data: [] } : { success: false, message: "No active brands found." };
}

/** Whether an If-None-Match header names this version, by weak comparison. */
function matches(header: string | undefined, version: string): boolean {
	if (header === undefined) return false;
	return header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === `"${version}"`);
}

/**
 * The encodings that the client takes. Cloudflare asks a Worker for gzip whatever its client said, and tells that beside it; empty
 * is a client that said nothing, and it may not be able to unpack anything.
 */
function clientEncodings(request: Request<unknown, CfProperties>): string | null {
	const told = request.cf?.clientAcceptEncoding;
	return typeof told === "string" ? told : request.headers.get("Accept-Encoding");
}

/** Whether an Accept-Encoding header takes gzip. */
function acceptsGzip(header: string | null): boolean {
	const weights = new Map(
		(header ?? "").split(",").map((part): [string, number] => {
			const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
			const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
			return [name, weight === undefined ? 1 : Number(weight)];
		}),
	);
	return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
