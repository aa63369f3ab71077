/// <reference path="./packed-assets.d.ts" />
/** Where each asset is served: addresses that hold a hash of it. */
import paths from "../../../.build/console/asset-paths.json";

/** The stylesheet and the script of every page; the others are asked for where they are needed, so that a first view is small. */
export const ASSET_NAMES = ["charts.css", "console.css", "console.js", "guides.css", "passkeys.js", "webauthn.js"] as const;
export type AssetName = (typeof ASSET_NAMES)[number];

const PATHS: Readonly<Record<string, string | undefined>> = paths;

/** @throws where scripts/build-assets.mjs has made no such asset */
export function assetPath(name: AssetName): string {
	const path = PATHS[name];
	if (path === undefined) throw new Error(`${name} is not among the assets that were packed`);
	return path;
}
