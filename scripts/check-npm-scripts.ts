/** Runs the npm scripts that end by themselves as a user does: by npm, under the Node of the system. For `.ci/run`. */
import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { Failure, reportFailure } from "./local/failure.ts";
import { ROOT } from "./local/paths.ts";

/** The script's arguments, and what its output must match. `npm start` and `npm run reset` are run by the end-to-end tests. */
const RUNS: readonly { script: string; arguments: readonly string[]; expected: RegExp }[] = [
	{ script: "operator", arguments: ["--help"], expected: /import .*FILE|import \[options\] <file>/ },
	{ script: "bench", arguments: ["--help"], expected: /--only/ },
	{ script: "scale", arguments: ["--bids", "5000"], expected: /\| clicks a second \| 25 \|/ },
	{ script: "lint", arguments: [], expected: /[1-9]\d* passed, 0 failed/ },
	{ script: "typecheck", arguments: [], expected: /[1-9]\d* passed, 0 failed/ },
	// The committed migrations are what the schema gives: otherwise this would write one more.
	{ script: "db:generate", arguments: [], expected: /No schema changes[\s\S]*No schema changes/ },
];

function checkNpmScripts(): void {
	const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
	const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
	const failed: string[] = [];
	for (const { script, arguments: arguments_, expected } of RUNS) {
		const result = spawnSync("npm", ["run", script, "--", ...arguments_], {
			cwd: ROOT,
			env: { ...environment, PATH: path.join(delimiter) },
			stdio: ["ignore", "pipe", "pipe"],
			encoding: "utf8",
		});
		const output = `${result.stdout}\n${result.stderr}`;
		if (result.status !== 0 || !expected.test(output)) {
			console.error(`${output.trim()}\n\nnpm run ${script}: FAILED. It exits with ${result.status}, and should print ${expected}.\n`);
			failed.push(script);
		} else {
			console.log(`npm run ${script}: ok`);
		}
	}
	if (failed.length > 0) throw new Failure(`These npm scripts do not work: ${failed.join(", ")}`);
}

try {
	checkNpmScripts();
} catch (error) {
	reportFailure(error);
}
