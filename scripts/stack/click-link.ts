import { get } from "node:http";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/129.0.0.0 Safari/537.36";

/**
 * Calls a click URL as a person's browser does, without going where it leads: `fetch` of Node says by its metadata that a script called,
 * and such a click is not paid.
 * @returns where it leads; null where it did not redirect
 */
export function clickLink(url: string): Promise<URL | null> {
	const headers = { "user-agent": BROWSER, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
	return new Promise((resolve, reject) => {
		const request = get(url, { headers }, (response) => {
			response.resume();
			resolve(response.statusCode === 302 ? URL.parse(response.headers.location ?? "") : null);
		});
		request.on("error", reject);
	});
}
