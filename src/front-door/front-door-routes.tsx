/** What a visitor finds without knowing an endpoint: `/`, the guides under `/docs/`, the icon, and what robots may read. */
import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { etag } from "hono/etag";
import { type Addresses, FrontPage } from "./front-page.tsx";
import { GuidePage, NoSuchGuide } from "./guide-page.tsx";
import { type Guide, readGuides } from "./guides.ts";
import { drawIcon } from "./icon.ts";
import { KeptNetworkState, type NetworkStateDeps } from "./network-state.ts";
import { showPage } from "./show-page.tsx";

export type FrontDoorDeps = NetworkStateDeps & { addresses: Addresses };

/** A guide changes with a deployment alone. */
const GUIDE_HEADERS = { "cache-control": "public, max-age=300" };
const ICON_HEADERS = { "content-type": "image/x-icon", "cache-control": "public, max-age=86400" };

/** Links and endpoints are for those who were given them: a robot that follows a link makes a click. */
const ROBOTS = [
	"User-agent: *",
	...["/click", "/openrtb/", "/serving-engine", "/api/", "/operator/", "/console"].map((path) => `Disallow: ${path}`),
	"",
].join("\n");

/** To be mounted after what else answers under `/docs`: whatever comes here is a guide, or nowhere. */
export function frontDoorRoutes({ addresses, ...deps }: FrontDoorDeps): Hono {
	const app = new Hono();
	const network = new KeptNetworkState(deps);
	let known: readonly Guide[] | undefined;
	const guides = async () => {
		known ??= await readGuides(addresses.baseUrl);
		return known;
	};

	// Who asks for no page is answered as at every address that is none.
	app.get("/", async (c) => {
		if (!asksForPage(c)) return c.notFound();
		const page = <FrontPage network={await network.read()} addresses={addresses} />;
		return showPage(page, { "cache-control": "no-cache", vary: "accept" });
	});
	app.get("/favicon.ico", etag(), () => new Response(drawIcon(), { headers: ICON_HEADERS }));
	app.get("/robots.txt", etag(), (c) => c.text(ROBOTS, 200, { "cache-control": "public, max-age=86400" }));

	app.get("/docs/*", etag(), async (c) => {
		const all = await guides();
		const guide = all.find(({ address }) => address === c.req.path);
		if (guide !== undefined) return showPage(<GuidePage guide={guide} guides={all} />, GUIDE_HEADERS);
		// As the file is called in the project, or with a slash too many.
		const address = c.req.path.replace(/(?:\.md|\/(?:README(?:\.md)?)?)$/, "");
		if (all.some((one) => one.address === address)) return c.redirect(address, 308);
		if (!asksForPage(c)) return c.notFound();
		return showPage(<NoSuchGuide guides={all} />, { vary: "accept" }, 404);
	});
	return app;
}

/** A browser names HTML; programs take whatever comes. */
function asksForPage(c: Context): boolean {
	return accepts(c, { header: "Accept", supports: ["text/html", "application/json"], default: "application/json" }) === "text/html";
}
