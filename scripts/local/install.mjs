/**
 * Runs `npm ci` and shows how it goes. Plain JavaScript without dependencies, because it runs under Node 20, before anything is
 * installed.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";

const REFRESH_MS = 250;
const SPARSE_MS = 5_000;
/** Without a new package for this long, it is said: a large one takes its time, and so does a registry that does not answer. */
const QUIET_MS = 15_000;

/** npm that waits for a registry takes more than a minute to heed a signal. What it leaves behind, the next `npm ci` removes. */
const STOP_MS = 2_000;

/** What npm's output holds where the registry, or the way to it, is at fault. */
const UNREACHABLE =
	/\b(EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ECONNABORTED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|UNABLE_TO_GET_ISSUER_CERT_LOCALLY|UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT_IN_CHAIN)\b/;

function readPackages(file) {
	return JSON.parse(readFileSync(file, "utf8")).packages ?? {};
}

/**
 * True where node_modules holds what package-lock.json names; packages for other platforms may be absent.
 * @param {string} root a folder with both
 */
export function isInstalled(root) {
	const lock = join(root, "node_modules", ".package-lock.json");
	if (!existsSync(lock)) return false;
	const installed = readPackages(lock);
	return Object.entries(readPackages(join(root, "package-lock.json"))).every(([path, wanted]) => {
		if (path === "") return true;
		const found = installed[path];
		if (found === undefined) return wanted.optional === true;
		return found.version === wanted.version && (wanted.integrity === undefined || found.integrity === wanted.integrity);
	});
}

/**
 * Installs what package-lock.json names. All output goes to standard error: standard output is the script's that follows. Ends the
 * process by the signal that ends npm.
 * @param {string} root the project's folder
 * @returns {Promise<string | null>} what went wrong, and what to do about it; null where nothing did
 */
export async function install(root) {
	const progress = showProgress(root);
	const [command, ...first] = findNpm();
	// Only errors: npm would warn of its own Node's version, while scripts run under the Node that is installed here.
	const child = spawn(command, [...first, "ci", "--no-audit", "--no-fund", "--loglevel=error"], {
		cwd: root,
		stdio: ["ignore", "pipe", "pipe"],
	});
	let output = "";
	for (const stream of [child.stdout, child.stderr]) {
		stream.setEncoding("utf8").on("data", (text) => {
			output += text;
			progress.print(text);
		});
	}
	let interruptedBy = null;
	const forward = (signal) => {
		interruptedBy = signal;
		child.kill(signal);
		setTimeout(() => child.kill("SIGKILL"), STOP_MS).unref();
	};
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, forward);
	const ended = await new Promise((resolve) => {
		child.on("error", (error) => resolve({ error }));
		child.on("close", (code, signal) => resolve({ code, signal }));
	});
	progress.end();
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(signal, forward);
	if (ended.error !== undefined) return `npm could not be run: ${ended.error.message}. Install npm, then try again.`;
	const signal = interruptedBy ?? ended.signal;
	if (signal !== null) process.exit(128 + constants.signals[signal]);
	return ended.code === 0 ? null : explainFailure(output);
}

function findNpm() {
	const npm = process.env.npm_execpath;
	return npm !== undefined && /npm-cli\.c?js$/.test(npm) ? [process.execPath, npm] : ["npm"];
}

function explainFailure(output) {
	const code = UNREACHABLE.exec(output)?.[1];
	if (code === undefined) return "npm ci failed: see above. Correct what it complains about, then try again.";
	const registry = /request to (https?:\/\/[^/\s]+)/.exec(output)?.[1] ?? process.env.npm_config_registry ?? "https://registry.npmjs.org";
	return (
		`The npm registry at ${registry} cannot be reached (${code}), so the dependencies are not installed.\n` +
		"Check the connection. Where the way out is a proxy, or another registry is to be used, tell npm:\n\n" +
		"  npm config set https-proxy http://proxy.example:8080\n  npm config set registry https://registry.example\n\n" +
		"Then run the same command again: what was downloaded is in npm's cache and is not downloaded twice."
	);
}

/** One line that moves on a terminal; otherwise a line every few seconds. */
function showProgress(root) {
	const paths = listPackages(root);
	const startedAt = Date.now();
	let arrived = 0;
	let lastAt = startedAt;
	const isTerminal = process.stderr.isTTY && process.stderr.columns > 0;
	const clear = () => isTerminal && process.stderr.write("\r\u001b[K");
	const draw = () => {
		const present = paths.filter((path) => existsSync(join(root, path, "package.json"))).length;
		if (present !== arrived) lastAt = Date.now();
		arrived = present;
		const line = describe(arrived, paths.length, Date.now() - startedAt, Date.now() - lastAt);
		if (!isTerminal) return console.error(line);
		clear();
		process.stderr.write(line.slice(0, process.stderr.columns - 1));
	};
	console.error("Installing dependencies (npm ci) …");
	const timer = setInterval(draw, isTerminal ? REFRESH_MS : SPARSE_MS);
	return {
		print(text) {
			clear();
			process.stderr.write(text);
		},
		end() {
			clearInterval(timer);
			clear();
		},
	};
}

function describe(arrived, count, elapsedMs, quietMs) {
	const seconds = `${Math.floor(elapsedMs / 1_000)} s`;
	if (arrived === count) return `Installing: ${count} packages are there, their install scripts run, ${seconds}`;
	const quiet =
		quietMs < QUIET_MS ? "" : ` (nothing new for ${Math.floor(quietMs / 1_000)} s: a large package, or the registry does not answer)`;
	return `Installing: ${arrived} of ${count} packages, ${seconds}${quiet}`;
}

/** Folders of the packages that package-lock.json has for this machine. */
function listPackages(root) {
	const packages = readPackages(join(root, "package-lock.json"));
	const isOfThisMachine = ({ os, cpu, libc }) =>
		os?.includes(process.platform) === true && cpu?.includes(process.arch) === true && libc?.[0] !== "musl";
	return Object.entries(packages)
		.filter(([path, entry]) => path !== "" && (entry.optional !== true || isOfThisMachine(entry)))
		.map(([path]) => path);
}
