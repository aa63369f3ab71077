/**
 * Runs operator commands of the project in this folder, one after the other, each as if it were a process of its own: starting one is
 * most of what a command takes. Started by {@link Commands}.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Asked } from "./commands.ts";

const SCRIPTS = join(process.cwd(), "scripts");
const { guardOutput } = (await load("local/output.ts")) as typeof import("../../../scripts/local/output.ts");
const { runOperator } = (await load("operator/run-operator.ts")) as typeof import("../../../scripts/operator/run-operator.ts");

const output = { stdout: "", stderr: "" };
keep("stdout");
keep("stderr");
guardOutput();

process.on("message", async ({ words }: Asked) => {
	Object.assign(output, { stdout: "", stderr: "" });
	process.exitCode = undefined;
	await runOperator(words);
	process.send?.({ code: process.exitCode ?? 0, ...output });
});

function load(script: string): Promise<unknown> {
	return import(pathToFileURL(join(SCRIPTS, script)).href);
}

/** Has what is printed kept instead. */
function keep(name: "stdout" | "stderr"): void {
	const decoder = new TextDecoder();
	process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
		output[name] += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
		const done = rest.at(-1);
		if (typeof done === "function") queueMicrotask(() => done());
		return true;
	};
}
