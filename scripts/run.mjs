/**
 * Runs a script of this project, or a tool from node_modules/.bin, with the Node that the project brings along (the npm package
 * `node`), whatever Node started this file: `node scripts/run.mjs scripts/start.ts …` or `node scripts/run.mjs biome check`.
 * Installs the dependencies first where they are missing or are not the ones package-lock.json names.
 * Arguments, signals and the exit code are passed on. Plain JavaScript, because it must run under Node 20.
 */
import { spawn } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install as installPackages, isInstalled } from "./local/install.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const BIN = join(ROOT, "node_modules", ".bin");
const TYPE_STRIPPING_MAJOR = 24;
/** Where Node keeps what it has compiled, for half of what a command takes is that; `npm ci` clears it. */
const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "compiled");

function fail(message) {
	console.error(message);
	process.exit(1);
}

async function install() {
	if (lstatSync(join(ROOT, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink()) {
		fail(
			"node_modules is a link to dependencies that are not those of package-lock.json. Run npm ci where it points to, or remove the link.",
		);
	}
	const failure = await installPackages(ROOT);
	if (failure !== null) fail(failure);
}

/** The project's own Node; the one that runs this file where that is recent enough. */
function findNode() {
	const own = join(BIN, "node");
	if (existsSync(own)) return own;
	if (Number(process.versions.node.split(".")[0]) >= TYPE_STRIPPING_MAJOR) return process.execPath;
	return fail(
		"node_modules/.bin/node is missing: the install script of the npm package `node` did not run.\n" +
			"Run `npm ci --ignore-scripts=false`, or use Node 24 or later.",
	);
}

const [target, ...rest] = process.argv.slice(2);
if (target === undefined) fail("Usage: node scripts/run.mjs SCRIPT.ts|TOOL [ARGUMENT…]");
if (!isInstalled(ROOT)) await install();

const isScript = /\.m?[jt]s$/.test(target);
const child = spawn(isScript ? findNode() : join(BIN, target), isScript ? [join(ROOT, target), ...rest] : rest, {
	stdio: "inherit",
	env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ""}` },
});
child.on("error", (error) => fail(`${target} could not be run: ${error.message}`));
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));

// npm that is killed outright forwards nothing: end with it instead of leaving servers behind.
const parent = process.ppid;
if (process.env.npm_lifecycle_event !== undefined) {
	setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), 1_000).unref();
}
