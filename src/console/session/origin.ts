/** Where requests come from, and where they may be led. Pure. */

/**
 * Whether a request that may change something comes from our own pages: so browsers say in `Sec-Fetch-Site`, or those that lack it in
 * `Origin`. Its content type does not matter.
 * @param origin of the console, without a trailing slash
 */
export function isOwnRequest(headers: Headers, origin: string): boolean {
	const site = headers.get("sec-fetch-site");
	return site === null ? headers.get("origin") === origin : site === "same-origin";
}

/** The path of the console that a sign-in leads to; null where the text names none: nobody is led elsewhere. */
export function readNext(next: string | undefined): string | null {
	if (next === undefined || !next.startsWith("/console")) return null;
	const url = URL.parse(next, "https://console.invalid");
	if (url === null || url.origin !== "https://console.invalid") return null;
	const { pathname, search } = url;
	if (pathname !== "/console" && !pathname.startsWith("/console/")) return null;
	return /^\/console\/sign-(?:in|out)(?:\/|$)/.test(pathname) ? null : pathname + search;
}
