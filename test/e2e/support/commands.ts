import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Finished, Project } from "./project.ts";

export type Asked = { words: readonly string[] };

/** Operator commands of a project, run by one process. What a process alone shows, as its signals, needs {@link Project.operator}. */
export class Commands {
	readonly #child: ChildProcess;

	constructor(project: Project) {
		this.#child = fork(join(import.meta.dirname, "run-commands.ts"), { cwd: project.folder, env: project.environment });
	}

	/** One at a time. @throws Error where the process ends by it */
	run(words: readonly string[]): Promise<Finished> {
		const { promise, resolve, reject } = Promise.withResolvers<Finished>();
		const ended = () => reject(new Error(`the process that runs commands has ended by ${JSON.stringify(words)}`));
		this.#child.once("exit", ended).once("message", (finished) => {
			this.#child.off("exit", ended);
			resolve(finished as Finished);
		});
		this.#child.send({ words } satisfies Asked);
		return promise;
	}

	async end(): Promise<void> {
		if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
		this.#child.kill();
		await once(this.#child, "exit");
	}
}
