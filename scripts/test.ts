/**
 * `npm test`: every check of the project, and a count at the end. `npm test -- lint unit` runs only those, and `npm test -- postgres`
 * the suites of the ledger against a real PostgreSQL. They run in two lanes side by side, about as long as each other; the second has
 * what reads the sources and what waits much, for servers and processes, and its output is shown when the first has ended.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { findBrowser, installBrowserPackages } from "./browser/find-browser.ts";
import { HeldOutput } from "./checks/held-output.ts";
import { type Check, type Outcome, runCheck } from "./checks/run-check.ts";
import { Failure, reportFailure } from "./local/failure.ts";
import { ROOT } from "./local/paths.ts";
import { startTestServer } from "./postgres/test-server.ts";

const PROJECTS = ["tsconfig.json", "tsconfig.node.json", "tsconfig.worker-test.json", "src/console/ui/browser/tsconfig.json"];

/** The threads of tsc do much twice, which pays only where a core is free for them; the first lane needs one. */
const TSC_OPTIONS = availableParallelism() > 2 ? [] : ["--singleThreaded"];

const FIRST_LANE: readonly Check[] = [vitest("worker")];
const OF_SOURCES: readonly Check[] = [
	...PROJECTS.filter((file) => existsSync(join(ROOT, file))).map((file) => ({
		name: `typecheck ${file}`,
		tool: "tsc",
		arguments: ["-p", file, ...TSC_OPTIONS],
	})),
	{ name: "lint", tool: "biome", arguments: ["ci", ...(process.stdout.isTTY ? [] : ["--colors=off"])] },
	{
		name: "lint unused",
		tool: "knip",
		arguments: ["--no-progress", "--treat-config-hints-as-errors"],
		// It loads vitest.config.ts by jiti, which would take half a minute to compile wrangler for a Node that needs nothing compiled.
		variables: { JITI_NATIVE_MODULES: '["wrangler"]' },
	},
];
/** What runs in a browser: its packages are installed, and it is found, before the first of them. */
const IN_BROWSER: readonly Check[] = [
	{ name: "console typecheck", tool: "tsc", arguments: ["-p", "tsconfig.browser-test.json", ...TSC_OPTIONS] },
	vitest("console"),
];
const SECOND_LANE: readonly Check[] = [...OF_SOURCES, vitest("unit"), vitest("e2e"), ...IN_BROWSER];
/** Only where they are named: they need a PostgreSQL server. On it alone; and beside D1, then whether that were all statements. */
const ON_POSTGRES: readonly Check[] = [
	vitest("postgres"),
	{ ...vitest("e2e-postgres"), name: "postgres npm start" },
	vitest("mirror", "mirrored"),
];

type Done = Outcome & { name: string; seconds: number };

/** Of a check that could not be made here, which is no failure. */
const NOTHING: Outcome = { passed: 0, failures: [] };

function vitest(...projects: readonly [string, ...string[]]): Check {
	return {
		name: projects[0],
		tool: "vitest",
		arguments: ["run", ...projects.flatMap((project) => ["--project", project])],
		isVitest: true,
	};
}

async function test(wanted: readonly string[]): Promise<void> {
	const names = [...new Set([...FIRST_LANE, ...SECOND_LANE, ...ON_POSTGRES].map(({ name }) => kindOf(name)))];
	const unknown = wanted.find((name) => !names.includes(name));
	if (unknown !== undefined) throw new Failure(`There is no check ${JSON.stringify(unknown)}. Choose from: ${names.join(", ")}.`);
	const [first, second] = [FIRST_LANE, SECOND_LANE].map((lane) =>
		lane.filter(({ name }) => wanted.length === 0 || wanted.includes(kindOf(name))),
	) as [Check[], Check[]];
	first.push(...ON_POSTGRES.filter(({ name }) => wanted.includes(kindOf(name))));
	const held = first.length === 0 ? null : new HeldOutput((text) => process.stdout.write(text));
	const shown = runLane(first, null).finally(() => held?.release());
	const done = (await Promise.all([shown, runLane(second, held)])).flat();
	const lines = done.flatMap(({ name, seconds, passed, failures }) => [
		`${failures.length > 0 ? "FAILED" : passed > 0 ? "ok    " : "NOT RUN"} ${seconds.toFixed(1).padStart(6)} s  ${name}  (${passed} passed, ${failures.length} failed)`,
		...failures.map((failure) => `                 ${failure}`),
	]);
	const passed = done.reduce((sum, check) => sum + check.passed, 0);
	const failed = done.reduce((sum, check) => sum + check.failures.length, 0);
	console.log(`\n${lines.join("\n")}\n\n${passed} passed, ${failed} failed`);
	if (failed > 0) process.exitCode = 1;
}

async function runLane(checks: readonly Check[], held: HeldOutput | null): Promise<Done[]> {
	const done: Done[] = [];
	for (const check of checks) {
		const title = `\n── ${check.name}\n`;
		if (held === null) process.stdout.write(title);
		else held.write(title);
		const startedAt = Date.now();
		const outcome = await chooseRun(check)(check, held);
		done.push({ ...outcome, name: check.name, seconds: (Date.now() - startedAt) / 1_000 });
	}
	return done;
}

function chooseRun(check: Check): typeof runCheck {
	if (ON_POSTGRES.includes(check)) return runOnPostgres;
	return IN_BROWSER.includes(check) ? runInBrowser : runCheck;
}

/** What the browser is, or why there is none; asked once. */
let browser: Promise<Failure | null> | null = null;

/** In CI, or where a browser is named, it fails without one; elsewhere it is said that nothing was tested. */
async function runInBrowser(check: Check, held: HeldOutput | null): Promise<Outcome> {
	browser ??= installBrowserPackages()
		.then(() => findBrowser(process.env))
		.then(
			() => null,
			(error: unknown) => {
				if (error instanceof Failure) return error;
				throw error;
			},
		);
	const fault = await browser;
	if (fault === null) return runCheck(check, held);
	const mustRun = Boolean(process.env.CI || process.env.BROWSER_PATH);
	const text = `\n${fault.message}\n\nNOT TESTED: there is no browser, so no page was opened${mustRun ? ", but CI or BROWSER_PATH asks for it" : ""}.\n`;
	if (held === null) process.stderr.write(text);
	else held.write(text);
	return mustRun ? { passed: 0, failures: [`${check.name}: no browser`] } : NOTHING;
}

/** Without a server it fails, unless POSTGRES_TESTS says `if-possible`: then it is said that nothing was tested. */
async function runOnPostgres(check: Check, held: HeldOutput | null): Promise<Outcome> {
	const server = await startTestServer(process.env).catch((error: unknown) => {
		if (process.env.POSTGRES_TESTS !== "if-possible" || !(error instanceof Failure)) throw error;
		console.error(`\n${error.message}\n\nNOT TESTED: PostgreSQL cannot be had here, so nothing has run against it.`);
		return null;
	});
	if (server === null) return NOTHING;
	try {
		return await runCheck({ ...check, variables: { POSTGRES_URL: server.url } }, held);
	} finally {
		await server.stop();
	}
}

function kindOf(name: string): string {
	return name.split(" ")[0] ?? name;
}

test(process.argv.slice(2)).catch(reportFailure);
