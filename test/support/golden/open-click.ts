/** Opens the click URL of a bid: its parameters and its token. */
import { env } from "cloudflare:workers";
import { ClickTokens } from "../../../src/click-token/token.ts";
import type { ClickToken } from "../../../src/click-token/token-content.ts";
import "../worker-env.ts";

export type OpenedClick = {
	url: string;
	/** Parameters after encyp and rtuli, in order. */
	params: [name: string, value: string][];
	rtuli: string;
	token: ClickToken;
};

const tokens = new ClickTokens(env.TOKEN_KEYS.split(","));

/** @throws Error where the URL is not a click URL that this Worker could have made */
export async function openClick(url: string): Promise<OpenedClick> {
	const start = "http://localhost:8787/click?";
	if (!url.startsWith(start)) throw new Error(`${url} is not on the click tracker`);
	// Every value is percent-encoded: parsing changes nothing but the one character that encodeURIComponent leaves to it.
	if (new URL(url).href !== url.replaceAll("'", "%27")) throw new Error(`${url} is not a normalised URL`);
	const [encyp, rtuli, ...params] = [...new URLSearchParams(url.slice(start.length))];
	if (encyp?.[0] !== "encyp" || rtuli?.[0] !== "rtuli") throw new Error(`${url} does not begin with encyp and rtuli`);
	const token = await tokens.open(encyp[1]);
	if (token === null) throw new Error(`the token of ${url} does not open`);
	if (token.auctionId !== rtuli[1]) throw new Error(`the token of ${url} is another auction's`);
	return { url, params, rtuli: rtuli[1], token };
}

/** The click URL inside an adm. @throws Error where the adm holds anything else */
export function clickUrlOfAdm(adm: unknown): string {
	const markup = typeof adm === "string" ? JSON.parse(adm) : null;
	const url: unknown = markup?.native?.link?.url;
	if (typeof url !== "string" || JSON.stringify(markup) !== JSON.stringify({ native: { link: { url } } })) {
		throw new Error(`adm is not {"native":{"link":{"url":…}}}: ${JSON.stringify(adm)}`);
	}
	return url;
}
