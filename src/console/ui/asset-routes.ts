/** GET /console/assets/NAME.HASH.css and .js. Anyone may have them, on any host: the front door uses them as well. */
import { Hono } from "hono";
import charts from "../../../.build/console/charts.css.gz.bin";
import style from "../../../.build/console/console.css.gz.bin";
import script from "../../../.build/console/console.js.gz.bin";
import guides from "../../../.build/console/guides.css.gz.bin";
import passkeys from "../../../.build/console/passkeys.js.gz.bin";
import webauthn from "../../../.build/console/webauthn.js.gz.bin";
import { acceptsGzip, packedFile } from "../../lib/packed-file.ts";
import { ASSET_NAMES, type AssetName, assetPath } from "./asset-paths.ts";

const PACKED: Readonly<Record<AssetName, ArrayBuffer>> = {
	"charts.css": charts,
	"console.css": style,
	"console.js": script,
	"guides.css": guides,
	"passkeys.js": passkeys,
	"webauthn.js": webauthn,
};

/** What an address answers never changes: another content has another address. */
const HEADERS = {
	"cache-control": "public, max-age=31536000, immutable",
	"cross-origin-resource-policy": "same-origin",
	"x-content-type-options": "nosniff",
} as const;

/** Mounted at the root. */
export function assetRoutes(): Hono {
	const app = new Hono();
	for (const name of ASSET_NAMES) {
		const type = name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
		app.get(assetPath(name), (c) => packedFile(PACKED[name], acceptsGzip(c.req.raw), { ...HEADERS, "content-type": type }));
	}
	return app;
}
