/** `npm run reset`: removes what the local server has stored, and nothing else. */
import { existsSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { Failure, reportFailure } from "./local/failure.ts";
import { readOptions } from "./local/options.ts";
import { ROOT, STATE_DIR } from "./local/paths.ts";
import { findRunning } from "./local/running.ts";

async function reset(): Promise<void> {
	readOptions({}, "Use `npm run reset`: it removes what the local server has stored. It has no options.");
	const running = await findRunning();
	if (running !== null) {
		throw new Failure(
			`The local server is running (port ${running.port}, process ${running.pid}), so its state was left alone.\n` +
				`Stop it with Ctrl-C in its window, else by \`kill ${running.pid}\`, then run \`npm run reset\` again.`,
		);
	}
	const folder = relative(ROOT, STATE_DIR);
	if (!existsSync(STATE_DIR)) {
		console.log(`There is nothing to remove: ${folder} does not exist.`);
		return;
	}
	rmSync(STATE_DIR, { recursive: true });
	console.log(`Removed ${folder}: the local databases and the campaign book. Secrets in .dev.vars were kept. \`npm start\` starts afresh.`);
}

reset().catch(reportFailure);
