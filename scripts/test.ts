/** `npm test`: every check of the project, one after the other, and a count at the end. `npm test -- lint unit` runs only those. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Check, runCheck } from "./checks/run-check.ts";
import { Failure, reportFailure } from "./local/failure.ts";
import { ROOT } from "./local/paths.ts";

const PROJECTS = ["tsconfig.json", "tsconfig.node.json", "tsconfig.worker-test.json"];
const SUITES = ["unit", "worker", "e2e"];

const CHECKS: readonly Check[] = [
	...PROJECTS.filter((file) => existsSync(join(ROOT, file))).map((file) => ({
		name: `typecheck ${file}`,
		tool: "tsc",
		arguments: ["-p", file],
	})),
	{ name: "lint", tool: "biome", arguments: ["ci", ...(process.stdout.isTTY ? [] : ["--colors=off"])] },
	{ name: "lint unused", tool: "knip", arguments: ["--no-progress", "--treat-config-hints-as-errors"] },
	...SUITES.map((suite) => ({ name: suite, tool: "vitest", arguments: ["run", "--project", suite], isVitest: true as const })),
];

async function test(wanted: readonly string[]): Promise<void> {
	const names = [...new Set(CHECKS.map(({ name }) => kindOf(name)))];
	const unknown = wanted.find((name) => !names.includes(name));
	if (unknown !== undefined) throw new Failure(`There is no check ${JSON.stringify(unknown)}. Choose from: ${names.join(", ")}.`);
	const lines: string[] = [];
	let passed = 0;
	let failed = 0;
	for (const check of CHECKS) {
		if (wanted.length > 0 && !wanted.includes(kindOf(check.name))) continue;
		console.log(`\n── ${check.name}`);
		const startedAt = Date.now();
		const outcome = await runCheck(check);
		const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1).padStart(6);
		lines.push(
			`${outcome.failed === 0 ? "ok    " : "FAILED"} ${seconds} s  ${check.name}  (${outcome.passed} passed, ${outcome.failed} failed)`,
		);
		passed += outcome.passed;
		failed += outcome.failed;
	}
	console.log(`\n${lines.join("\n")}\n\n${passed} passed, ${failed} failed`);
	if (failed > 0) process.exitCode = 1;
}

function kindOf(name: string): string {
	return name.split(" ")[0] ?? name;
}

test(process.argv.slice(2)).catch(reportFailure);
