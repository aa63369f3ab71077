/**
 * Packs what the origin Worker serves to browsers: the API reference's viewer (swagger-ui-dist) as .build/viewer/*.bin, the guides of
 * docs/ as .build/guides/*.bin, and the console's stylesheet and scripts, bundled, as .build/console/*.bin with their addresses in
 * asset-paths.json. All gzipped once here, so that the bundle does not hold it plain. wrangler runs this before each build (`[build]`
 * in wrangler.toml), the tests before they start. Plain JavaScript, because `wrangler deploy` may run it under Node 20.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { readGuides } from "./guides/read-guides.mjs";
import { licenseIn, licensesOf } from "./licenses/bundled-licenses.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BUILT = join(ROOT, ".build");

const VIEWER_FILES = ["swagger-ui-bundle.js", "swagger-ui-standalone-preset.js", "swagger-ui.css"];

const CONSOLE_UI = join(ROOT, "src", "console", "ui");
/** Each file of this folder is an asset; what several share, or what is long, is in folders below. */
const SCRIPTS = join(CONSOLE_UI, "browser");
/** What console.css imports is part of it. */
const STYLES = ["console.css", "charts.css", "guides.css"].map((file) => join(CONSOLE_UI, "styles", file));
/** Where the console serves them. An address holds a hash of what it answers, so that browsers may keep it for good. */
const ASSETS_PATH = "/console/assets";
const HASH_LENGTH = 12;

/** Leaves a file alone that is right, and is never seen half written: several builds may run at once. */
function write(path, content) {
	if (existsSync(path) && readFileSync(path).equals(content)) return;
	const written = `${path}.${process.pid}`;
	writeFileSync(written, content);
	renameSync(written, path);
}

function pack(path, content) {
	write(`${path}.gz.bin`, gzipSync(content, { level: 9 }));
}

function packViewer() {
	const source = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
	const target = join(BUILT, "viewer");
	mkdirSync(target, { recursive: true });
	const license = licenseIn(source);
	for (const file of VIEWER_FILES) {
		// What is bundled in it in turn: the file refers to these, which are comments already.
		const further = join(source, `${file}.LICENSE.txt`);
		const ofParts = existsSync(further) ? readFileSync(further, "utf8") : "";
		pack(join(target, file), `${withLicenses(readFileSync(join(source, file), "utf8"), [license])}${ofParts}`);
	}
}

/** A script or stylesheet and, as a comment behind it, the licenses of what is in it. */
function withLicenses(text, licenses) {
	if (licenses.length === 0) return text;
	return `${text.trimEnd()}\n/*!\n${licenses.join("\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

function packConsole() {
	const target = join(BUILT, "console");
	mkdirSync(target, { recursive: true });
	const scripts = readdirSync(SCRIPTS).filter((file) => file.endsWith(".ts"));
	const { outputFiles, metafile } = buildSync({
		absWorkingDir: ROOT,
		// What a script loads once it is needed is an asset of its own, not a part of it.
		external: scripts.map((file) => `./${file}`),
		entryPoints: [...STYLES, ...scripts.map((file) => join(SCRIPTS, file))],
		outdir: target,
		entryNames: "[name]",
		bundle: true,
		minify: true,
		format: "esm",
		target: "esnext",
		legalComments: "none",
		metafile: true,
		write: false,
		logLevel: "warning",
		tsconfigRaw: {},
	});
	const packages = (path) => licensesOf(ROOT, Object.keys(metafile.outputs[relative(ROOT, path)].inputs));
	const texts = new Map(outputFiles.map(({ path, text }) => [path.slice(target.length + 1), withLicenses(text, packages(path))]));
	/** An asset, in which others are named by their addresses, and its own name with the hash in it. */
	const finish = (file) => {
		const text = texts.get(file).replace(/"\.\/([\w-]+)\.ts"/g, (_, name) => `"./${finish(`${name}.js`).name}"`);
		const hash = createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH);
		return { text, name: file.replace(".", `.${hash}.`) };
	};
	const paths = [...texts.keys()].sort().map((file) => {
		const { text, name } = finish(file);
		pack(join(target, file), text);
		return [file, `${ASSETS_PATH}/${name}`];
	});
	write(join(target, "asset-paths.json"), Buffer.from(`${JSON.stringify(Object.fromEntries(paths), null, "\t")}\n`));
}

function packGuides() {
	const target = join(BUILT, "guides");
	mkdirSync(target, { recursive: true });
	pack(join(target, "guides.json"), readGuides(ROOT));
}

packViewer();
packGuides();
packConsole();
