/**
 * Licenses of the packages in what is handed out or served: whoever gets a copy of these is to get those, too. Plain JavaScript, as
 * build-assets.mjs is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:\.(?:md|txt))?$/i;

/** Those of all packages of a bundle. @param root the folder that esbuild's paths are of @param inputs what its metafile names */
export function licensesOf(root, inputs) {
	const folders = new Set(inputs.map((path) => PACKAGE.exec(path)?.[0]).filter((folder) => folder !== undefined));
	return [...folders].sort().map((folder) => licenseIn(join(root, folder)));
}

/** That of a package, under its name. @param folder the package's @throws Error where it brings none */
export function licenseIn(folder) {
	const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file));
	if (files.length === 0) throw new Error(`${name} ${version} has no license in ${folder}.`);
	const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim());
	return [`${name} ${version}`, ...texts].join("\n\n");
}
