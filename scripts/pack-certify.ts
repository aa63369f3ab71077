/**
 * Packs `certify` as a package of its own, without dependencies: `npx FOLDER --url …` runs it wherever Node is, for partners who have no
 * checkout. `node scripts/run.mjs scripts/pack-certify.ts [folder]`; without a folder `.build/certify`.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { ROOT } from "./local/paths.ts";

if (process.argv.length > 3 || process.argv[2]?.startsWith("-")) {
	console.error("usage: node scripts/run.mjs scripts/pack-certify.ts [folder]");
	process.exit(1);
}
const folder = resolve(process.argv[2] ?? join(ROOT, ".build", "certify"));
const { version, license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string; license: string };

mkdirSync(folder, { recursive: true });
const program = join(folder, "certify.mjs");
buildSync({
	entryPoints: [join(ROOT, "scripts", "certify.ts")],
	outfile: program,
	bundle: true,
	minify: true,
	platform: "node",
	format: "esm",
	target: "node20",
	legalComments: "inline",
	banner: {
		// What is bundled asks for Node's own modules by require().
		js: '#!/usr/bin/env node\nimport { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
	},
});
const manifest = {
	name: "clickbourse-certify",
	version,
	description: "Checks a running OpenRTB and Serving Engine endpoint against the interface's rules",
	license,
	type: "module",
	bin: "certify.mjs",
	files: ["certify.mjs"],
	engines: { node: ">=20.11" },
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, "\t")}\n`);
const page = readFileSync(join(ROOT, "docs", "certify.md"), "utf8").split("\n## ", 1)[0] ?? "";
// What it links to is not in the package.
const readme = page.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/npm run certify(?: --)?/g, "npx .");
writeFileSync(join(folder, "README.md"), `${readme.trimEnd()}\n`);
console.log(`${folder}: ${Math.ceil(statSync(program).size / 1_000)} kB`);
