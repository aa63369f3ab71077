/**
 * Packs `certify` as a package of its own, without dependencies: `npx FOLDER --url …` runs it wherever Node is, for partners who have no
 * checkout. `node scripts/run.mjs scripts/pack-certify.ts [folder]`; without a folder `.build/certify`.
 */
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { licensesOf } from "./licenses/bundled-licenses.mjs";
import { ROOT } from "./local/paths.ts";

if (process.argv.length > 3 || process.argv[2]?.startsWith("-")) {
	console.error("usage: node scripts/run.mjs scripts/pack-certify.ts [folder]");
	process.exit(1);
}
/** Of what is bundled. Our own is npm's to find. */
const FURTHER_LICENSES = "LICENSES-OF-PACKAGES.txt";
const folder = resolve(process.argv[2] ?? join(ROOT, ".build", "certify"));
const { version, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string; license: string };

mkdirSync(folder, { recursive: true });
const program = join(folder, "certify.mjs");
const { metafile } = buildSync({
	absWorkingDir: ROOT,
	entryPoints: [join(ROOT, "scripts", "certify.ts")],
	outfile: program,
	bundle: true,
	minify: true,
	platform: "node",
	format: "esm",
	target: "node20",
	legalComments: "inline",
	metafile: true,
	banner: {
		// What is bundled asks for Node's own modules by require().
		js: '#!/usr/bin/env node\nimport { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
	},
});
copyFileSync(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
const licenses = licensesOf(ROOT, Object.keys(metafile.inputs));
writeFileSync(join(folder, FURTHER_LICENSES), `certify.mjs has in it:\n\n${licenses.join("\n\n")}\n`);
const manifest = {
	name: "clickbourse-certify",
	version,
	description: "Checks a running OpenRTB and Serving Engine endpoint against the interface's rules",
	license,
	type: "module",
	bin: "certify.mjs",
	files: ["certify.mjs", FURTHER_LICENSES],
	engines: { node: ">=20.11" },
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, "\t")}\n`);
const page = readFileSync(join(ROOT, "docs", "certify.md"), "utf8").split("\n## ", 1)[0] ?? "";
// What it links to is not in the package.
const readme = page.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/npm run certify(?: --)?/g, "npx .");
writeFileSync(join(folder, "README.md"), `${readme.trimEnd()}\n`);
console.log(`${folder}: ${Math.ceil(statSync(program).size / 1_000)} kB`);
