/** GET /docs: the reference for people, by a viewer that comes with the Worker: no other host is asked for anything. */
import style from "../../.build/viewer/swagger-ui.css.gz.bin";
import script from "../../.build/viewer/swagger-ui-bundle.js.gz.bin";
import preset from "../../.build/viewer/swagger-ui-standalone-preset.js.gz.bin";
import { packedFile } from "../lib/packed-file.ts";

const DAY_SECONDS = 86_400;
/** The viewer sets styles of its own and shows small pictures from data: URLs; nothing else may load, and nobody may frame it. */
const SECURITY_HEADERS = {
	"content-security-policy":
		"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"referrer-policy": "no-referrer",
	"x-content-type-options": "nosniff",
	"x-frame-options": "DENY",
} as const;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Clickbourse API</title>
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<nav aria-label="Clickbourse" style="padding: 0.75rem 1.25rem; font: 1rem system-ui, sans-serif"><a href="/">Clickbourse</a> · <a href="/docs/publishers">Guides</a></nav>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/swagger-ui-standalone-preset.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Keys that were entered stay in this browser until they are removed. */
const START = `SwaggerUIBundle({
	urls: [
		{ url: "/openapi.json", name: "Publishers, SSPs and platforms" },
		{ url: "/openapi-operator.json", name: "Operator" },
	],
	dom_id: "#reference",
	deepLinking: true,
	layout: "StandaloneLayout",
	persistAuthorization: true,
	presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
	validatorUrl: null,
});
`;

/** The page and its files by path; undefined for any other. */
export function viewerFile(path: string, gzip: boolean): Response | undefined {
	if (path === "/docs") return textFile(PAGE, "text/html; charset=utf-8");
	if (path === "/docs/start.js") return textFile(START, "text/javascript; charset=utf-8");
	if (path === "/docs/swagger-ui-bundle.js") return viewerAsset(script, "text/javascript; charset=utf-8", gzip);
	if (path === "/docs/swagger-ui-standalone-preset.js") return viewerAsset(preset, "text/javascript; charset=utf-8", gzip);
	if (path === "/docs/swagger-ui.css") return viewerAsset(style, "text/css; charset=utf-8", gzip);
	return undefined;
}

function textFile(text: string, type: string): Response {
	return new Response(text, { headers: { "content-type": type, ...SECURITY_HEADERS } });
}

function viewerAsset(bytes: ArrayBuffer, type: string, gzip: boolean): Response {
	return packedFile(bytes, gzip, { "content-type": type, "cache-control": `public, max-age=${DAY_SECONDS}`, ...SECURITY_HEADERS });
}
