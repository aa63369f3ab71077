import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, totalmem } from "node:os";

/** The machine and the runtimes that figures were taken on, in one line. */
export function describeMachine(): string {
	const model = cpus()[0]?.model.trim() ?? "unknown CPU";
	const gigabytes = (totalmem() / 2 ** 30).toFixed(0);
	return `${availableParallelism()} cores (${model}), ${gigabytes} GB, Node ${process.versions.node}, workerd ${versionOf("workerd")}, autocannon ${versionOf("autocannon")}`;
}

function versionOf(name: string): string {
	const require = createRequire(import.meta.url);
	const { version } = JSON.parse(readFileSync(require.resolve(`${name}/package.json`), "utf8")) as { version: string };
	return version;
}
