/** What visitors find: `/`, the guides, the icon; and that no other caller notices. */
import { env, exports } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { PLATFORMS } from "../../scripts/demo/well-known.ts";
import { readGuides } from "../../src/front-door/guides.ts";
import { DEMO_PLATFORM_KEY, KeptNetworkState } from "../../src/front-door/network-state.ts";
import "../support/worker-env.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const FILES = Object.keys({
	...import.meta.glob("../../docs/publishers/*.md"),
	...import.meta.glob("../../docs/{callbacks,postbacks,privacy,reports}.md"),
}).map((path) => path.replace("../../", "/").replace(/(\/README)?\.md$/, ""));

async function get(path: string, headers: Record<string, string> = { accept: BROWSER }, method = "GET") {
	const response = await exports.default.fetch(`http://base.example${path}`, { method, headers, redirect: "manual" });
	// Not .text(), which warns of the icon.
	return { status: response.status, headers: response.headers, text: new TextDecoder().decode(await response.arrayBuffer()) };
}

/** Ids of a page's elements, and where its links lead. */
function linksOf(html: string): { ids: string[]; hrefs: string[] } {
	const all = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, found = ""]) => found);
	return { ids: all(/ id="([^"]*)"/g), hrefs: all(/<(?:a|link)\b[^>]* href="([^"]*)"/g) };
}

describe("worker: the front door", () => {
	test("programs are answered at / as at every address that is none", async () => {
		const nowhere = await get("/nowhere", {});
		for (const headers of [{}, { accept: "*/*" }, { accept: "application/json" }, { accept: "application/json, text/html;q=0.5" }]) {
			const answer = await get("/", headers);
			expect(answer).toMatchObject({ status: 404, text: '{"error":"Not found"}' });
			expect([...answer.headers.keys()].sort()).toEqual([...nowhere.headers.keys()].sort());
		}
		expect(await get("/", { accept: BROWSER }, "POST")).toMatchObject({ status: 404, text: '{"error":"Not found"}' });
		for (const path of ["/docs/nowhere", "/docs/publishers/nowhere"])
			expect(await get(path, {})).toMatchObject({ status: 404, text: '{"error":"Not found"}' });
	});

	test("a browser is led from / to the console, the reference and the guides, and told whether a network is loaded", async () => {
		const page = await get("/");
		expect(page.status).toBe(200);
		expect(page.headers.get("vary")).toBe("accept");
		expect(page.text).toContain("No network is loaded yet");
		expect(linksOf(page.text).hrefs).toEqual(expect.arrayContaining(["/console", "/docs", "/docs/publishers", "/openapi.json"]));
		expect(page.text).toContain("<code>http://localhost:8787</code>");
	});

	test("the demo is known by its key, and what cannot be read is said to be so", async () => {
		expect(PLATFORMS.map(({ access_key }) => access_key)).toContain(DEMO_PLATFORM_KEY);
		let now = 1_000_000;
		const found: unknown[] = [null, {}, new Error("no database")];
		const asked: string[] = [];
		const state = new KeptNetworkState({
			keys: {
				findPlatformByHash: async (hash) => {
					asked.push(hash);
					const next = found.shift();
					if (next instanceof Error) throw next;
					return next as never;
				},
			},
			kv: env.BOOK,
			now: () => now,
		});
		const states: string[] = [];
		for (let read = 0; read < 6; read++) {
			states.push(await state.read());
			now += 2_500;
		}
		expect(states).toEqual(["nothing", "nothing", "demo", "demo", "unknown", "unknown"]);
		found.push(null, null);
		const first = new KeptNetworkState({ keys: { findPlatformByHash: async () => found.shift() as null }, kv: env.BOOK, now: () => now });
		expect(await Promise.all([first.read(), first.read()])).toEqual(["nothing", "nothing"]);
		expect(new Set(asked)).toEqual(
			new Set([new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(DEMO_PLATFORM_KEY))).toHex()]),
		);
	});

	test("there is an icon, and a word to robots", async () => {
		const icon = await exports.default.fetch("http://base.example/favicon.ico");
		const bytes = new Uint8Array(await icon.arrayBuffer());
		expect(icon.headers.get("content-type")).toBe("image/x-icon");
		expect([...bytes.subarray(0, 8)]).toEqual([0, 0, 1, 0, 1, 0, 16, 16]);
		expect(new DataView(bytes.buffer).getUint32(14, true) + new DataView(bytes.buffer).getUint32(18, true)).toBe(bytes.length);
		const robots = await get("/robots.txt");
		expect(robots.text).toMatch(/^User-agent: \*\nDisallow: \/click\n/);
		expect(robots.text).not.toContain("/docs");
	});
});

describe("worker: guides", () => {
	const pages = new Map<string, Awaited<ReturnType<typeof get>>>();
	beforeAll(async () => {
		for (const path of FILES) pages.set(path, await get(path));
	});

	test("every file has its page, with one title, beside the list of all, for anyone who asks", async () => {
		expect(FILES.length).toBeGreaterThan(14);
		for (const [path, { status, headers, text }] of pages) {
			expect([path, status, headers.get("content-type")]).toEqual([path, 200, "text/html; charset=utf-8"]);
			expect(text.match(/<h1/g), path).toHaveLength(1);
			expect(linksOf(text).hrefs, path).toEqual(expect.arrayContaining([...FILES, "/docs", "/"]));
			expect(text.match(/aria-current="page"/g), path).toHaveLength(1);
			expect(text, path).toContain(`<a href="${path}" aria-current="page">`);
		}
		expect((await get("/docs/publishers/bids", {})).text).toBe(pages.get("/docs/publishers/bids")?.text);
	});

	test("no link of theirs is dead, and no anchor twice on a page", async () => {
		const others = new Map<string, number>();
		const dead: string[] = [];
		for (const [path, { text }] of [...pages, ["/", await get("/")] as const]) {
			const { ids, hrefs } = linksOf(text);
			expect(new Set(ids).size, path).toBe(ids.length);
			for (const href of hrefs) {
				if (/^https:/.test(href)) continue;
				const [target = "", anchor] = href.split("#");
				const page = target === "" ? { text } : pages.get(target);
				// Another part's pages.
				if (target.startsWith("/console")) continue;
				if (page === undefined && !others.has(target)) others.set(target, (await get(target)).status);
				const isThere = page === undefined ? others.get(target) === 200 : anchor === undefined || linksOf(page.text).ids.includes(anchor);
				if (!isThere) dead.push(`${path}: ${href}`);
			}
		}
		expect(dead).toEqual([]);
		expect(others.size).toBeGreaterThan(3);
	});

	test("nothing loads from elsewhere, nothing runs in the page, and nobody may frame it", () => {
		for (const [path, { headers, text }] of pages) {
			expect(headers.get("content-security-policy"), path).toBe(
				"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
			);
			expect(headers.get("referrer-policy"), path).toBe("same-origin");
			expect(headers.get("x-content-type-options"), path).toBe("nosniff");
			expect(text, path).not.toMatch(/<style| style=| on\w+="|<script(?![^>]* src="\/)|(?: src| href)="(?:http:|\/\/)/);
		}
	});

	test("a page is kept for minutes, and asked for again by its tag; HEAD says the same without it", async () => {
		const page = pages.get("/docs/publishers/bids");
		const etag = page?.headers.get("etag") ?? "";
		expect(page?.headers.get("cache-control")).toBe("public, max-age=300");
		expect(etag).toMatch(/^"\w+"$/);
		expect(await get("/docs/publishers/bids", { "if-none-match": etag })).toMatchObject({ status: 304, text: "" });
		const head = await get("/docs/publishers/bids", {}, "HEAD");
		expect({ status: head.status, text: head.text, etag: head.headers.get("etag") }).toEqual({ status: 200, text: "", etag });
	});

	test.each([
		["/docs/publishers/", "/docs/publishers"],
		["/docs/publishers/README.md", "/docs/publishers"],
		["/docs/publishers/bids.md", "/docs/publishers/bids"],
		["/docs/reports/", "/docs/reports"],
	])("%s leads to %s", async (path, target) => {
		const { status, headers } = await get(path);
		expect({ status, location: headers.get("location") }).toEqual({ status: 308, location: target });
	});

	test.each(["/docs/nowhere", "/docs/operations", "/docs/publishers/nowhere", "/docs/publishers/bids/x"])(
		"%s is a page that says so to a browser, with the guides that there are",
		async (path) => {
			const { status, headers, text } = await get(path);
			expect([status, headers.get("content-type"), headers.get("vary")]).toEqual([404, "text/html; charset=utf-8", "accept"]);
			expect(linksOf(text).hrefs).toEqual(expect.arrayContaining(FILES));
		},
	);

	test("the reference leads to the guides, and they to it", async () => {
		expect(linksOf((await get("/docs")).text).hrefs).toEqual(expect.arrayContaining(["/", "/docs/publishers", "/favicon.ico"]));
	});

	test("examples are sent to the service itself; those of the demo only on a developer's machine", async () => {
		const htmlOf = async (baseUrl: string, title: string) => (await readGuides(baseUrl)).find((guide) => guide.title === title)?.html;
		expect(await htmlOf("https://api.network.example", "Your account")).toContain("curl -s https://api.network.example/api/account");
		expect(await htmlOf("https://api.network.example", "Bids")).toContain("http://localhost:8787/openrtb/");
		expect(await htmlOf("http://localhost:8790", "Your account")).toContain("curl -s http://localhost:8790/api/account");
		expect(await htmlOf("http://localhost:8790", "Bids")).toContain("http://localhost:8790/openrtb/");
	});
});
