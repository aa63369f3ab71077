/** What stands before every route of the origin: the request's id, headers that keep browsers strict, and a limit on guessing keys. */
import type { MiddlewareHandler } from "hono";
import { RETRY_AFTER_SECONDS } from "../lib/away.ts";
import { jsonResponse } from "../lib/http.ts";
import { originHeaders } from "../lib/request-id.ts";
import type { FailedKeys } from "./failed-keys.ts";
import { FAILED_KEYS_LIMIT, FAILED_KEYS_SECONDS } from "./limits.ts";

/** Headers that carry a key. */
const KEY_HEADERS = ["AccessKey", "PublisherKey", "OperatorKey"] as const;
export type KeyHeader = (typeof KEY_HEADERS)[number];

export type GuardDeps = {
	now: () => number;
	failedKeys: FailedKeys;
	/** Whether this may be a valid key. Asked of an address only that keeps guessing: it must cost next to nothing. */
	mayBeValid: (header: KeyHeader, key: string) => Promise<boolean>;
};

export function guard({ now, failedKeys, mayBeValid }: GuardDeps): MiddlewareHandler {
	return async (c, next) => {
		const request = c.req.raw;
		const keys = KEY_HEADERS.flatMap((header) => {
			const key = request.headers.get(header);
			return key === null ? [] : [{ header, key }];
		});
		const seconds = keys.length === 0 ? 0 : failedKeys.secondsRefused(request);
		if (seconds > 0 && !(await areAll(keys, ({ header, key }) => mayBeValid(header, key)))) {
			c.res = tooManyRequests(seconds);
		} else {
			await next();
			if (keys.length > 0 && c.res.status === 401) await failedKeys.count(request);
		}
		const { headers } = c.res;
		for (const [name, value] of Object.entries(originHeaders(request, now()))) headers.set(name, value);
		// Most answers depend on a key, in a header of its own that caches do not know: none keeps what does not say how long.
		if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
		if (c.res.status === 503 && !headers.has("retry-after")) headers.set("retry-after", String(RETRY_AFTER_SECONDS));
	};
}

/** The headers that tell the limit are those of the IETF's draft "RateLimit header fields for HTTP". */
function tooManyRequests(seconds: number): Response {
	return jsonResponse({ error: "Too many requests" }, 429, {
		"retry-after": String(seconds),
		"ratelimit-policy": `"unknown-keys";q=${FAILED_KEYS_LIMIT};w=${FAILED_KEYS_SECONDS}`,
		ratelimit: `"unknown-keys";r=0;t=${seconds}`,
	});
}

async function areAll<Item>(items: readonly Item[], test: (item: Item) => Promise<boolean>): Promise<boolean> {
	return (await Promise.all(items.map(test))).every(Boolean);
}
