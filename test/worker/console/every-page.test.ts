/** Every page of the console: whom it takes, what it answers everyone else, and what its answers carry. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { consoleRoutes, PAGES } from "../../../src/console/console-routes.ts";
import { CONSOLE_HEADERS } from "../../../src/console/guard.tsx";
import type { Needs, Page } from "../../../src/console/page.ts";
import { mayAct } from "../../../src/http/actor.ts";
import { OPERATOR_ROLES, PUBLISHER_ROLES } from "../../../src/lib/access-enums.ts";
import { get, issueLink, OWN, post, shown, signIn, type Visitor } from "../../support/console.ts";
import { setNow } from "../../support/load-network.ts";
import { ACME, importFile, OPERATOR_HEADERS } from "../../support/network-import.ts";
import { setPublisher } from "../../support/report-rows.ts";

const visitors = new Map<string, Visitor>();
const OTHER = {
	...ACME,
	id: "other",
	name: "Other",
	publisher_id: "1002",
	publisher_identity: "other",
	access_key: "access-key-other",
	publisher_key: "publisher-key-other",
};

beforeAll(async () => {
	setNow("2026-11-18T15:00:00Z");
	await importFile({ publishers: [ACME, OTHER] });
	for (const role of OPERATOR_ROLES) visitors.set(role, await signIn({ staff: `staff ${role}`, role }));
	for (const role of PUBLISHER_ROLES) visitors.set(role, await signIn({ publisher: "acme", name: role, role }));
	const viewing = await signIn({ staff: "looks", role: "admin" });
	expect((await post("/console/view-as", viewing, { publisher: "acme" })).status).toBe(303);
	visitors.set("viewing", viewing);
});

/** Whether a role may, as the page says: written down once more, beside the guard. */
function takes({ needs, method }: Page, who: string): boolean {
	if (typeof needs === "string" || "anyone" in needs) return true;
	const role = OPERATOR_ROLES.find((known) => known === who) ?? (who === "viewing" ? "admin" : null);
	if ("staff" in needs) return role !== null && mayAct(role, needs.staff);
	if (who === "viewing") return method === "GET" && needs.publisher === "analyst";
	return who === "owner" || (who === "analyst" && needs.publisher === "analyst");
}

const ask = ({ method, path }: Page, visitor?: Visitor, headers: Record<string, string> = {}) => {
	const address = path.replaceAll(/:\w+(?:\{[^}]*\})?/g, "nothing");
	return method === "GET" ? get(address, visitor, headers) : post(address, visitor, {}, { ...OWN, ...headers });
};

/** Forms and links of a page that lead to pages which do not take whoever sees it. */
function refusedIn(text: string, who: string): string[] {
	const found = [...text.matchAll(/<(form|a)(?: class="[^"]*")?(?: method="(\w+)")? (?:action|href)="(\/console[^"?#]*)/g)];
	return found
		.filter(([, tag, method = "get", address = ""]) => {
			const asked = tag === "a" ? "GET" : method.toUpperCase();
			const fits = ({ path, method: takesBy }: Page) =>
				takesBy === asked && new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`).test(address);
			return !PAGES.some((page) => fits(page) && takes(page, who));
		})
		.map(([all]) => all);
}

const NEEDS = (needs: Needs) => (typeof needs === "string" ? needs : JSON.stringify(needs));

describe("worker: every page", () => {
	it("is mounted from an entry that says whom it takes, and nothing else is", () => {
		const app = consoleRoutes({ consoleUrl: "http://localhost:8787" } as Parameters<typeof consoleRoutes>[0]);
		const mounted = app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
		expect(mounted).toEqual(PAGES.map(({ method, path }) => `${method} ${path}`));
		expect(new Set(mounted).size).toBe(mounted.length);
		for (const { needs } of PAGES)
			expect(
				["nobody", "anyone"].includes(needs as string) || ["staff", "publisher", "anyone"].some((whom) => whom in (needs as object)),
			).toBe(true);
	});

	// A page that signs out would take the session from the others.
	const lasting = PAGES.filter(({ path }) => path !== "/console/sign-out" && path !== "/console/view-as");

	it.each(PAGES.map((page) => [page.method, page.path, NEEDS(page.needs), page] as const))(
		"%s %s takes %s",
		async (method, _, __, page) => {
			for (const visitor of [undefined, { cookie: `__Host-session=${"A".repeat(43)}` }, { cookie: "__Host-session=1; session=1" }]) {
				const response = await ask(page, visitor, { ...OPERATOR_HEADERS, AccessKey: ACME.access_key });
				for (const [name, value] of Object.entries(CONSOLE_HEADERS)) {
					if (!page.path.startsWith("/console/assets")) expect([name, response.headers.get(name)]).toEqual([name, value]);
				}
				if (page.needs === "nobody") continue;
				if (page.isData || method !== "GET") expect(response.status).toBe(401);
				else expect([response.status, response.headers.get("location")]).toEqual([303, expect.stringContaining("/console/sign-in?")]);
			}
			if (!lasting.includes(page)) return;
			for (const [who, visitor] of visitors) {
				const { status, text } = await shown(ask(page, visitor));
				if (takes(page, who)) expect([401, 403, 500], who).not.toContain(status);
				else expect([who, status]).toEqual([who, 403]);
				// What says nothing without filters leads to the list that they are of.
				if (method === "GET" && status === 422 && !page.path.includes(":"))
					expect([page.path, text]).toEqual([page.path, expect.stringContaining(`<a href="${page.list}">`)]);
				expect([who, refusedIn(text, who)]).toEqual([who, []]);
			}
		},
	);

	it.each(lasting.filter(({ method }) => method !== "GET").map((page) => [page.path, page] as const))(
		"POST %s is refused to other sites",
		async (_, page) => {
			for (const headers of [{}, { origin: "https://evil.example" }, { "sec-fetch-site": "cross-site", origin: OWN.origin }]) {
				for (const visitor of [undefined, visitors.get("admin"), visitors.get("owner")]) {
					const response = await post(page.path.replaceAll(/:\w+/g, "nothing"), visitor, {}, headers);
					expect(response.status).toBe(403);
				}
			}
		},
	);

	it("is on the console's host alone", async () => {
		const { default: worker } = await import("../../../src/worker.ts");
		const on = async (url: string, init: RequestInit = {}) =>
			worker.fetch(new Request(url, { redirect: "manual", ...init }) as never, env as never, createExecutionContext());
		const elsewhere = await on("https://base.example/console/earnings?group=day");
		expect([elsewhere.status, elsewhere.headers.get("location")]).toEqual([307, "http://localhost:8787/console/earnings?group=day"]);
		for (const [name, value] of Object.entries(CONSOLE_HEADERS)) expect([name, elsewhere.headers.get(name)]).toEqual([name, value]);
		expect((await on("https://base.example/console/sign-out", { method: "POST", headers: OWN })).status).toBe(404);
	});

	it("that is nowhere is told by a page", async () => {
		const response = await get("/console/nothing", visitors.get("owner"));
		expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("There is nothing at this address")]);
		expect((await get("/console/sign-out", visitors.get("owner"))).status).toBe(404);
	});
});

describe("worker: a cookie and a key open their own alone", () => {
	it("a cookie opens neither /api nor /operator", async () => {
		expect((await get("/api/account", visitors.get("owner"))).status).toBe(401);
		expect((await get("/operator/status", visitors.get("admin"))).status).toBe(401);
	});
});

describe("worker: staff that looks at a publisher's console", () => {
	it("sees what is theirs, can change nothing, and goes back; both is audited", async () => {
		const bo = await signIn({ staff: "bo", role: "viewer" });
		expect((await get("/console/earnings", bo)).status).toBe(403);
		expect((await post("/console/view-as", bo, { publisher: "nobody" })).status).toBe(404);
		expect((await post("/console/view-as", bo, { publisher: "other" })).headers.get("location")).toBe("/console/earnings");
		const page = await get("/console/earnings", bo);
		expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("You look at the console of <strong>Other</strong>")]);
		await post("/console/view-as", bo, {});
		expect((await get("/console/earnings", bo)).status).toBe(403);
		const audited = await env.DB.prepare(
			"SELECT actor, role, subject_id, after FROM audit WHERE verb = 'viewAs' AND actor = 'bo' ORDER BY after DESC",
		).all();
		expect(audited.results).toEqual([
			{ actor: "bo", role: "viewer", subject_id: "other", after: '{"viewing":true}' },
			{ actor: "bo", role: "viewer", subject_id: "other", after: '{"viewing":false}' },
		]);
	});
});

describe("worker: people of a suspended publisher", () => {
	it("still see, and are told", async () => {
		const ada = await signIn({ publisher: "other", name: "Ada" });
		await setPublisher("other", "status", "suspended");
		const page = await get("/console/earnings", ada);
		expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("This account is suspended")]);
		await setPublisher("other", "status", "active");
	});
});

describe("worker: who is led where after signing in", () => {
	it.each([
		["/console/earnings?group=day", "/console/earnings?group=day"],
		["https://evil.example/console", "/console/earnings"],
		["//evil.example/console", "/console/earnings"],
		["/console/../api", "/console/earnings"],
		["/console\\..\\..\\evil", "/console/earnings"],
		["/consoles", "/console/earnings"],
		["/console/sign-out", "/console/earnings"],
		["javascript:alert(1)", "/console/earnings"],
	])("?next=%s leads to %s", async (next, led) => {
		const response = await get(`/console/sign-in?${new URLSearchParams({ next })}`, visitors.get("owner"));
		expect(response.headers.get("location")).toBe(led);
	});

	it("a link's token stands in no other page", async () => {
		const { url } = await issueLink({ publisher: "acme", name: "owner" });
		const page = await get(new URL(url).pathname);
		expect(await page.text()).not.toContain(new URL(url).pathname.split("/").at(-1));
	});
});
