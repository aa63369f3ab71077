/**
 * `npm run mutate`: puts the faults of the mutation list into a copy of the project, one at a time, and says which of them the tests
 * notice. `--only NAME` (again for more) tries those alone, `--list` prints their names. See docs/testing.md.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure, reportFailure } from "./local/failure.ts";
import { readOptions } from "./local/options.ts";
import { ROOT } from "./local/paths.ts";
import { copyProject } from "./mutate/copy-project.ts";
import { applyFault, type Fault, findStaleness } from "./mutate/fault.ts";
import { FAULTS } from "./mutate/faults.ts";
import { runTests, type TestRun } from "./mutate/run-tests.ts";

const USAGE =
	"Use `npm run mutate` to try every fault, `npm run mutate -- --only NAME` (again for more) to try some, `-- --list` to print their names. docs/testing.md tells more.";

async function mutate(): Promise<void> {
	const { only, list } = readOptions({ only: { type: "string", multiple: true }, list: { type: "boolean" } }, USAGE);
	if (list === true) return console.log(FAULTS.map(({ name, file }) => `${name}  ${file}`).join("\n"));
	const chosen = choose(only ?? []);
	const stale = chosen.flatMap((fault) => {
		const why = findStaleness(readFileSync(join(ROOT, fault.file), "utf8"), fault);
		return why === null ? [] : [`${fault.name} (${fault.file}): ${why}`];
	});
	if (stale.length > 0)
		throw new Failure(`These faults are stale. Bring their texts up to date in scripts/mutate/faults:\n${stale.join("\n")}`);
	const copy = copyProject();
	const remove = () => rmSync(copy, { recursive: true, force: true, maxRetries: 5 });
	process.once("exit", remove);
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
	await checkUnchanged(copy, chosen);
	const surprises: string[] = [];
	for (const [at, fault] of chosen.entries()) {
		const startedAt = Date.now();
		const run = await tryFault(copy, fault);
		const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
		console.log(`[${at + 1}/${chosen.length}] ${fault.name}: ${describe(run)} (${seconds} s)`);
		if (run.outcome === "broken") console.log(run.output);
		const isNoticed = run.outcome === "failed" || run.outcome === "endless";
		if (isNoticed === (fault.survives !== undefined)) surprises.push(`${fault.name}: ${describe(run)}`);
	}
	const survivors = chosen.filter(({ survives }) => survives !== undefined);
	console.log(
		`\n${chosen.length} faults tried, ${chosen.length - survivors.length - surprises.length} noticed, ${survivors.length} known to survive`,
	);
	if (surprises.length > 0) throw new Failure(`Other than expected:\n${surprises.join("\n")}`);
}

function choose(names: readonly string[]): readonly Fault[] {
	const unknown = names.filter((name) => !FAULTS.some((fault) => fault.name === name));
	if (unknown.length > 0) throw new Failure(`There is no fault ${unknown.join(", ")}. --list prints their names.`);
	return names.length === 0 ? FAULTS : FAULTS.filter(({ name }) => names.includes(name));
}

/** A test that fails without a fault would notice every one. */
async function checkUnchanged(copy: string, faults: readonly Fault[]): Promise<void> {
	const files = [...new Set(faults.flatMap(({ tests }) => tests))];
	console.log(`Running ${files.length} test files without a fault …`);
	const run = await runTests(copy, files);
	if (run.outcome === "passed") return;
	if (run.outcome === "broken") console.error(run.output);
	throw new Failure(`The tests do not pass as they are: ${describe(run)}`);
}

/** Runs the fault's test files one after the other, until one notices. */
async function tryFault(copy: string, fault: Fault): Promise<TestRun> {
	const path = join(copy, fault.file);
	const source = readFileSync(path, "utf8");
	writeFileSync(path, applyFault(source, fault));
	try {
		for (const file of fault.tests) {
			const run = await runTests(copy, [file]);
			if (run.outcome !== "passed") return run;
		}
		return { outcome: "passed" };
	} finally {
		writeFileSync(path, source);
	}
}

function describe(run: TestRun): string {
	if (run.outcome === "failed") return `noticed by "${run.test}"`;
	if (run.outcome === "endless") return "noticed: the tests never end";
	return run.outcome === "passed" ? "SURVIVED" : "no test could say: the run itself broke";
}

mutate().catch(reportFailure);
