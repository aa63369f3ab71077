/** The guides of docs/, rendered when the Worker was built, and what links to them. */
import packed from "../../.build/guides/guides.json.gz.bin";

/** As scripts/guides/render-guides.mjs makes it. */
export type Guide = {
	/** The path of its page. */
	address: string;
	title: string;
	sections: { id: string; title: string }[];
	/** Its text without the title: ours, not a visitor's. */
	html: string;
};

/** Where examples that work with the demo are sent; and the host that stands in others for the network's own. */
const DEMO_URL = "http://localhost:8787";
const NETWORK_HOST = "api.example";

/**
 * All guides in the order in which they are read, with addresses of this service in them.
 * @param baseUrl its address. Examples for the demo keep theirs, but on a developer's machine, whose port `PORT` may have chosen
 */
export async function readGuides(baseUrl: string): Promise<readonly Guide[]> {
	const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
	const { host, hostname } = new URL(baseUrl);
	const own = text.replaceAll(`https://${NETWORK_HOST}`, baseUrl).replaceAll(NETWORK_HOST, host);
	return JSON.parse(hostname === "localhost" ? own.replaceAll(DEMO_URL, baseUrl) : own) as Guide[];
}
