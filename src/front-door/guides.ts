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

/** Where the examples of the guides are sent; and what stands in others for the address of the network that serves them. */
const EXAMPLES_URL = "http://localhost:8787";
const NETWORK_URL = "https://api.example";

/**
 * All guides in the order in which they are read, with addresses of this service in them.
 * @param baseUrl its address. Examples that name keys of the demo keep theirs, but on this machine, where `npm start` has chosen the port
 */
export async function readGuides(baseUrl: string): Promise<readonly Guide[]> {
	const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
	const isLocal = /^http:\/\/localhost(?::|$)/.test(baseUrl);
	return JSON.parse(text.replaceAll(NETWORK_URL, baseUrl).replaceAll(EXAMPLES_URL, isLocal ? baseUrl : EXAMPLES_URL)) as Guide[];
}
