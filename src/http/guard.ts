/** What stands before every route of the origin: the request's id, headers that keep browsers strict, and a limit on guessing keys. */
import type { MiddlewareHandler } from "hono";
import { putBounded } from "../lib/bounded-map.ts";
import { sha256Hex } from "../lib/bytes.ts";
import { jsonResponse } from "../lib/http.ts";
import { originHeaders } from "../lib/request-id.ts";
import { SECOND_MS } from "../lib/time.ts";

export type GuardDeps = {
	now: () => number;
	/** Counts failed keys by address; absent where no limit is bound. */
	failedKeys: { limit: (of: { key: string }) => Promise<{ success: boolean }> } | undefined;
};

/** How long an address that failed too often is refused. */
const REFUSED_MS = 10 * SECOND_MS;
/** Addresses an isolate remembers, the first refused out first. */
const MAX_REFUSED = 10_000;

export function guard({ now, failedKeys }: GuardDeps): MiddlewareHandler {
	const refused = new Map<string, number>();
	return async (c, next) => {
		const address = failedKeys === undefined ? undefined : c.req.header("CF-Connecting-IP");
		const until = address === undefined ? undefined : refused.get(address);
		if (until !== undefined && until > now() && carriesKey(c.req.raw.headers)) {
			const retryAfter = String(Math.ceil((until - now()) / SECOND_MS));
			c.res = jsonResponse({ error: "Too many requests" }, 429, { "retry-after": retryAfter });
		} else {
			await next();
			if (address !== undefined && failedKeys !== undefined && c.res.status === 401) {
				// The address itself goes nowhere, not even into the limiter.
				const { success } = await failedKeys.limit({ key: await sha256Hex(address) });
				if (!success) putBounded(refused, address, now() + REFUSED_MS, MAX_REFUSED);
			}
		}
		for (const [name, value] of Object.entries(originHeaders(c.req.raw, now()))) c.res.headers.set(name, value);
	};
}

const KEY_HEADERS = ["AccessKey", "PublisherKey", "OperatorKey"];

function carriesKey(headers: Headers): boolean {
	return KEY_HEADERS.some((name) => headers.has(name));
}
