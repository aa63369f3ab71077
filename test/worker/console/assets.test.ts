/** The console's stylesheet and scripts, as browsers get them. */
import { SELF } from "cloudflare:test";
import { expect, test } from "vitest";
import { ASSET_NAMES, assetPath } from "../../../src/console/ui/asset-paths.ts";

/** What a first page may cost beside its content, in bytes. */
const MAX_FIRST_VIEW_BYTES = 7_500;

async function bytesOf(name: (typeof ASSET_NAMES)[number], encoding: string): Promise<{ response: Response; bytes: ArrayBuffer }> {
	const response = await SELF.fetch(`https://console.example${assetPath(name)}`, { headers: { "accept-encoding": encoding } });
	return { response, bytes: await response.arrayBuffer() };
}

test.each(ASSET_NAMES)("%s is served by its hash, for good, and plain to who takes no gzip", async (name) => {
	const { response, bytes } = await bytesOf(name, "identity");
	expect(response.status).toBe(200);
	expect(response.headers.get("content-type")).toBe(name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8");
	expect(response.headers.get("cache-control")).toContain("immutable");
	expect(response.headers.get("x-content-type-options")).toBe("nosniff");
	const hash = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
	expect(assetPath(name)).toContain(`.${hash.slice(0, 12)}.`);
	expect(new TextDecoder().decode(bytes)).not.toMatch(/innerHTML|eval\(|url\(/);
});

test("another hash is not found", async () => {
	expect((await SELF.fetch("https://console.example/console/assets/console.000000000000.css")).status).toBe(404);
});

test("a first view is small", async () => {
	const { default: style } = await import("../../../.build/console/console.css.gz.bin");
	const { default: script } = await import("../../../.build/console/console.js.gz.bin");
	expect(style.byteLength + script.byteLength).toBeLessThan(MAX_FIRST_VIEW_BYTES);
});
