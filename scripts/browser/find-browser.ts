/**
 * The browser that `test/browser` drives: that of BROWSER_PATH, else a Chrome or Chromium of this machine, else @sparticuz/chromium,
 * which npm installs beside the tests.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Failure } from "../local/failure.ts";
import { install, isInstalled } from "../local/install.mjs";
import { ROOT } from "../local/paths.ts";

export type FoundBrowser = {
	path: string;
	/** What it says of itself, such as `Chromium 153.0.7000.1`. */
	version: string;
	/** Variables that it needs in its environment. */
	variables: Record<string, string>;
};

const FOLDER = join(ROOT, "test", "browser");
const PACKED = join(FOLDER, "node_modules", "@sparticuz", "chromium", "bin");
/** Where that one is unpacked; `npm ci` empties it. */
const UNPACKED = join(FOLDER, "node_modules", ".chromium");
const UNPACKED_FILES = ["chromium", "al2023", "fonts"] as const;

const NAMES = ["google-chrome-stable", "google-chrome", "chrome", "chromium", "chromium-browser"] as const;
const APPLICATIONS = [
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
] as const;

/** The pages' stylesheet needs light-dark(), which came with this version. */
const OLDEST_MAJOR = 123;
/** Only one that does not work takes this long to say its version. */
const VERSION_TIMEOUT_MS = 20_000;

/** Installs what the tests need, where it is missing. @throws Failure where npm cannot */
export async function installBrowserPackages(): Promise<void> {
	if (isInstalled(FOLDER)) return;
	console.log("Installing what the tests in a browser need, under test/browser, once …");
	const failure = await install(FOLDER);
	if (failure !== null) throw new Failure(failure);
}

/**
 * Finds it, once the packages are installed.
 * @throws Failure where there is none that runs
 */
export function findBrowser(environment: NodeJS.ProcessEnv): FoundBrowser {
	const chosen = environment.BROWSER_PATH;
	if (chosen) {
		const said = askVersion(chosen, {});
		if (said.version === undefined) throw new Failure(`BROWSER_PATH is ${chosen}, which ${said.fault}.`);
		return { path: chosen, version: said.version, variables: {} };
	}
	for (const path of listCandidates(environment)) {
		const { version } = askVersion(path, {});
		if (version !== undefined) return { path, version, variables: {} };
	}
	return takePackaged();
}

function listCandidates({ PATH = "" }: NodeJS.ProcessEnv): string[] {
	const folders = PATH.split(delimiter).filter((folder) => folder !== "");
	return [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), ...APPLICATIONS].filter((path) => existsSync(path));
}

/** What a program answers to `--version`, or why it cannot be taken. */
function askVersion(
	path: string,
	variables: Record<string, string>,
): { version: string; fault?: never } | { version?: never; fault: string } {
	const { status, stdout, stderr, error } = spawnSync(path, ["--version"], {
		encoding: "utf8",
		timeout: VERSION_TIMEOUT_MS,
		env: { ...process.env, ...variables },
	});
	if (error !== undefined) return { fault: `does not run: ${error.message}` };
	const [version, major] = /\bChrom\S*(?: \S+)*? (\d+)\.[\d.]+/.exec(stdout) ?? [];
	if (status !== 0 || version === undefined) return { fault: `does not say that it is Chrome or Chromium: ${(stderr || stdout).trim()}` };
	return Number(major) >= OLDEST_MAJOR ? { version } : { fault: `is ${version}; the tests need ${OLDEST_MAJOR} or later` };
}

/** It is made for Linux on x64, and brings libraries and fonts that a server may lack. */
function takePackaged(): FoundBrowser {
	const advice = "Install Chrome or Chromium, or name one: BROWSER_PATH=/path/to/chrome in the environment.";
	if (process.platform !== "linux" || process.arch !== "x64")
		throw new Failure(
			`There is no Chrome or Chromium on this machine, and none to install for ${process.platform}-${process.arch}. ${advice}`,
		);
	try {
		unpack();
	} catch (error) {
		throw new Failure(`@sparticuz/chromium could not be unpacked: ${error instanceof Error ? error.message : String(error)}. ${advice}`);
	}
	const path = join(UNPACKED, "chromium");
	const variables = {
		LD_LIBRARY_PATH: [join(UNPACKED, "al2023", "lib"), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter),
		FONTCONFIG_FILE: join(UNPACKED, "fonts.conf"),
	};
	const said = askVersion(path, variables);
	if (said.version === undefined) throw new Failure(`@sparticuz/chromium ${said.fault}. ${advice}`);
	return { path, version: said.version, variables };
}

/** Its own `inflate` writes to the folder for temporary files, so that is one of ours; what is whole is moved into its place. */
function unpack(): void {
	if (existsSync(UNPACKED)) return;
	console.log("Unpacking @sparticuz/chromium, once …");
	const folder = mkdtempSync(`${UNPACKED}-`);
	try {
		const script =
			'const { inflate } = await import("@sparticuz/chromium"); await Promise.all(process.argv.slice(1).map((file) => inflate(file)));';
		const files = UNPACKED_FILES.map((name) => join(PACKED, `${name}${name === "chromium" ? "" : ".tar"}.br`));
		execFileSync(process.execPath, ["--input-type=module", "--eval", script, ...files], {
			cwd: FOLDER,
			env: { ...process.env, TMPDIR: folder },
			stdio: ["ignore", "ignore", "pipe"],
		});
		const fonts = join(UNPACKED, "fonts");
		writeFileSync(
			join(folder, "fonts.conf"),
			`<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig><dir>${fonts}</dir><dir>/usr/share/fonts</dir><cachedir>${join(UNPACKED, "font-cache")}</cachedir></fontconfig>\n`,
		);
		mkdirSync(join(folder, "font-cache"));
		renameSync(folder, UNPACKED);
	} catch (error) {
		rmSync(folder, { recursive: true, force: true });
		throw error;
	}
}
