/** The console's stylesheet and scripts, as browsers get them. */
import { SELF } from "cloudflare:test";
import { expect, test } from "vitest";
import { ASSET_NAMES, assetPath } from "../../../src/console/ui/asset-paths.ts";
import { get, signIn, type Visitor } from "../../support/console.ts";
import { gzip } from "../../support/gzip.ts";
import { ACME, importFile } from "../../support/network-import.ts";
import { clickRow, importReportNetwork, store } from "../../support/report-rows.ts";

/** What a first page may cost with all that it needs, in bytes as they are sent. */
const MAX_FIRST_VIEW_BYTES = 7_000;
/** What a page of a hundred clicks may cost, with all that is known of each. */
const MAX_CLICKS_BYTES = 16_000;

async function bytesOf(name: (typeof ASSET_NAMES)[number]): Promise<{ response: Response; bytes: ArrayBuffer }> {
	const response = await SELF.fetch(`https://console.example${assetPath(name)}`, { headers: { "accept-encoding": "identity" } });
	return { response, bytes: await response.arrayBuffer() };
}

test.each(ASSET_NAMES)("%s is served by its hash, for good, and plain to who takes no gzip", async (name) => {
	const { response, bytes } = await bytesOf(name);
	expect(response.status).toBe(200);
	expect(response.headers.get("content-type")).toBe(name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8");
	expect(response.headers.get("cache-control")).toContain("immutable");
	expect(response.headers.get("x-content-type-options")).toBe("nosniff");
	const hash = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
	expect(assetPath(name)).toContain(`.${hash.slice(0, 12)}.`);
	expect(new TextDecoder().decode(bytes)).not.toMatch(/innerHTML|eval\(|url\(/);
});

test("a script that holds a package has its license with it", async () => {
	const script = new TextDecoder().decode((await bytesOf("webauthn.js")).bytes);
	expect(script).toMatch(/\/\*!\n@simplewebauthn\/browser \d+\.\d+\.\d+\n\nMIT License\n\nCopyright \(c\)/);
	expect(script).toContain("Permission is hereby granted");
	expect(new TextDecoder().decode((await bytesOf("console.js")).bytes)).not.toContain("/*!");
});

test("another hash is not found", async () => {
	expect((await SELF.fetch("https://console.example/console/assets/console.000000000000.css")).status).toBe(404);
});

/** What a browser fetches to show a page, gzipped: the page, and the styles and scripts that it names. */
async function weigh(path: string, visitor?: Visitor): Promise<number> {
	const response = await get(path, visitor);
	expect([path, response.status]).toEqual([path, 200]);
	const html = await response.text();
	const named = ASSET_NAMES.filter((name) => new RegExp(`(?:src|href)="${assetPath(name)}"`).test(html));
	expect(named).toEqual(expect.arrayContaining(["console.css", "console.js"]));
	const assets = await Promise.all(named.map(async (name) => new Uint8Array((await bytesOf(name)).bytes)));
	const packed = await Promise.all([html, ...assets].map(gzip));
	return packed.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

test("a first view is small: where one signs in, and what a new publisher sees then", async () => {
	await importFile({ publishers: [ACME] });
	const owner = await signIn({ publisher: ACME.id, name: "Owner" });
	for (const [path, visitor] of [["/console/sign-in"], ["/console/earnings", owner]] as const) {
		expect([path, await weigh(path, visitor)]).toEqual([path, expect.toSatisfy((bytes: number) => bytes < MAX_FIRST_VIEW_BYTES)]);
	}
});

test("a page full of clicks is small, for a publisher and for the staff", async () => {
	await importReportNetwork();
	const now = Date.now();
	const reasons = [null, null, null, "repeat", "bot", "embedded"];
	const uuid = () => crypto.randomUUID();
	await store(
		Array.from({ length: 100 }, (_, at) =>
			clickRow({
				clicked_at: now - at * 47_000 - 60_000,
				click_hash: uuid().replaceAll("-", ""),
				publisher_click_id: uuid(),
				source_id: `site-${at % 9}`,
				reason: reasons[at % reasons.length] ?? null,
				country: "US",
				bid_micros: 100_000 + at * 700,
			}),
		),
	);
	const publisher = await signIn({ publisher: "pc", name: "Analyst", role: "analyst" });
	const staff = await signIn({ staff: "bo", role: "viewer" });
	for (const [path, visitor] of [
		["/console/clicks", publisher],
		["/console/operator/clicks", staff],
	] as const) {
		expect((await (await get(path, visitor)).text()).match(/<tr>/g)).toHaveLength(101);
		expect([path, await weigh(path, visitor)]).toEqual([path, expect.toSatisfy((bytes: number) => bytes < MAX_CLICKS_BYTES)]);
	}
});
