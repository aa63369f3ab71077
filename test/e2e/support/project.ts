/** A copy of this project with state of its own, for tests that run its npm scripts as a newcomer does. */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { writeInput } from "../../../scripts/local/processes.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const COPIED = [
	"package.json",
	"package-lock.json",
	"tsconfig.base.json",
	"tsconfig.json",
	"wrangler.toml",
	"src",
	"scripts",
	"docs",
	"drizzle",
];
const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 15_000;

export type Finished = { code: number | null; stdout: string; stderr: string };

export class Project {
	readonly folder = mkdtempSync(join(tmpdir(), "clickbourse-e2e-"));
	readonly #running = new Set<ChildProcess>();
	/** What a user's shell has: none of what npm and vitest add to the environment of this test, but for what Node has compiled already. */
	readonly environment = userEnvironment();

	constructor() {
		for (const name of COPIED) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
		symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
	}

	/** Runs a command to its end, in the project's folder. */
	async run(command: readonly string[], options: { env?: Record<string, string>; input?: string } = {}): Promise<Finished> {
		const child = this.#spawn(command, options.env);
		writeInput(child, options.input ?? "");
		const output = collect(child);
		const code = await exitOf(child);
		return { code, ...output };
	}

	/** Runs an operator command as `npm run operator -- …` does, without the time that npm takes. */
	operator(arguments_: readonly string[], options: { env?: Record<string, string>; input?: string } = {}): Promise<Finished> {
		return this.run([process.execPath, "scripts/operator.ts", ...arguments_], options);
	}

	/** Runs `npm start` and returns once it says that it is ready. @throws Error with its output where it ends before */
	async start(port: number, env: Record<string, string> = {}, arguments_: readonly string[] = []): Promise<LocalServer> {
		const child = this.#spawn(["npm", "start", "--", ...arguments_], { PORT: String(port), ...env });
		child.stdin?.end();
		const output = collect(child);
		const deadline = Date.now() + START_TIMEOUT_MS;
		while (!output.stdout.includes("Ready on ")) {
			if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
				throw new Error(`npm start did not get ready:\n${output.stdout}\n${output.stderr}`);
			}
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
		return new LocalServer(child, output, port);
	}

	/** Ends whatever still runs, `npm start` so that it ends its Worker, and removes the copy. */
	async dispose(): Promise<void> {
		const running = [...this.#running];
		for (const child of running) child.kill("SIGTERM");
		const late = new Promise((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref());
		await Promise.race([Promise.all(running.map(exitOf)), late]);
		for (const child of this.#running) if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
		rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
	}

	/** In a process group of its own, so that nothing outlives the test. */
	#spawn([command = "", ...arguments_]: readonly string[], env: Record<string, string> = {}): ChildProcess {
		const child = spawn(command, arguments_, { cwd: this.folder, env: { ...this.environment, ...env }, detached: true });
		this.#running.add(child);
		child.on("exit", () => this.#running.delete(child));
		return child;
	}
}

export class LocalServer {
	readonly port: number;
	readonly origin: string;
	readonly pid: number;
	readonly #child: ChildProcess;
	readonly #output: { stdout: string; stderr: string };

	constructor(child: ChildProcess, output: { stdout: string; stderr: string }, port: number) {
		if (child.pid === undefined) throw new Error("npm start has no process id");
		this.pid = child.pid;
		this.port = port;
		this.origin = `http://localhost:${port}`;
		this.#child = child;
		this.#output = output;
	}

	get stdout(): string {
		return this.#output.stdout;
	}

	/** Signals npm alone and returns the exit code. @throws Error where it does not end */
	async stop(signal: "SIGINT" | "SIGTERM" = "SIGINT"): Promise<number | null> {
		const ended = exitOf(this.#child);
		this.#child.kill(signal);
		const late = new Promise<never>((_, reject) => setTimeout(() => reject(new Error(`not ended by ${signal}`)), STOP_TIMEOUT_MS).unref());
		return Promise.race([ended, late]);
	}
}

function userEnvironment(): Record<string, string> {
	const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
	const { HOME = tmpdir(), NODE_COMPILE_CACHE } = process.env;
	return { PATH: path.join(delimiter), HOME, TMPDIR: tmpdir(), ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
	const output = { stdout: "", stderr: "" };
	child.stdout?.setEncoding("utf8").on("data", (text: string) => {
		output.stdout += text;
	});
	child.stderr?.setEncoding("utf8").on("data", (text: string) => {
		output.stderr += text;
	});
	return output;
}

function exitOf(child: ChildProcess): Promise<number | null> {
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code) => resolve(code));
	});
}

export async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	if (address === null || typeof address === "string") throw new Error("no port");
	return address.port;
}
