import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Project } from "./support/project.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const INSTALL = `rm -rf node_modules; mkdir node_modules; cp '${ROOT}/node_modules/.package-lock.json' node_modules; ln -s '${ROOT}/node_modules/.bin' node_modules/.bin`;

describe("scripts/run.mjs", () => {
	const project = new Project();
	const path = (name: string) => join(project.folder, name);
	/** An npm that notes how it was called, and "installs" what a script without imports needs from this checkout. */
	const env = { PATH: [path("fake-bin"), process.env.PATH ?? ""].join(delimiter) };

	beforeAll(() => {
		writeFileSync(
			path("scripts/echo.ts"),
			"const code: number = 7;\nconsole.log(JSON.stringify([process.version, ...process.argv.slice(2)]));\nprocess.exit(code);\n",
		);
		writeFileSync(
			path("scripts/wait.ts"),
			'process.on("SIGTERM", () => process.exit(3));\nsetInterval(() => {}, 1_000);\nconsole.log("waiting");\n',
		);
		mkdirSync(path("fake-bin"));
		writeFileSync(path("fake-bin/npm"), `#!/bin/sh\necho "$@" >> npm-calls\necho installed\n${INSTALL}\n`);
		chmodSync(path("fake-bin/npm"), 0o755);
	});

	afterAll(() => project.dispose());

	it("runs TypeScript under the project's own Node, and passes arguments and the exit code on", async () => {
		const { code, stdout } = await project.run(["node", "scripts/run.mjs", "scripts/echo.ts", "a", "b c"]);
		expect(code).toBe(7);
		expect(JSON.parse(stdout)).toEqual([expect.stringMatching(/^v24\./), "a", "b c"]);
	});

	it("passes signals on and waits for the script to end", async () => {
		const { code } = await project.run([
			"sh",
			"-c",
			"node scripts/run.mjs scripts/wait.ts > told & until grep -q waiting told; do sleep 0.05; done; kill -TERM $!; wait $!",
		]);
		expect(code).toBe(3);
	});

	it("installs nothing where the dependencies are those of package-lock.json", async () => {
		await project.run(["node", "scripts/run.mjs", "scripts/echo.ts"], { env });
		expect(() => readFileSync(path("npm-calls"))).toThrow("ENOENT");
	});

	it("installs missing dependencies first, and keeps standard output for the script", async () => {
		rmSync(path("node_modules"));
		const { code, stdout, stderr } = await project.run(["node", "scripts/run.mjs", "scripts/echo.ts"], { env });
		expect(code).toBe(7);
		expect(stdout).not.toContain("installed");
		expect(stderr).toContain("installed");
		expect(readFileSync(path("npm-calls"), "utf8")).toBe("ci --no-audit --no-fund --loglevel=error\n");
	});

	it("installs anew where package-lock.json names another version", async () => {
		const lock = readFileSync(path("package-lock.json"), "utf8");
		writeFileSync(path("package-lock.json"), lock.replace(/("node_modules\/hono": \{\s*"version": )"[^"]+"/, '$1"4.0.0"'));
		const { stderr } = await project.run(["node", "scripts/run.mjs", "scripts/echo.ts"], { env });
		expect(stderr).toContain("Installing dependencies");
		writeFileSync(path("package-lock.json"), lock);
	});

	it("never installs into dependencies that are shared by a link", async () => {
		const linked = new Project();
		writeFileSync(
			join(linked.folder, "package-lock.json"),
			JSON.stringify({ packages: { "node_modules/not-installed": { version: "1.0.0" } } }),
		);
		const { code, stderr } = await linked.run(["node", "scripts/run.mjs", "scripts/reset.ts"], { env });
		await linked.dispose();
		expect(code).toBe(1);
		expect(stderr).toContain("node_modules is a link");
	});

	it("shows how an installation goes, and says what to do where the registry cannot be reached", async () => {
		rmSync(path("node_modules"), { recursive: true });
		const fault = "npm error request to https://registry.example/hono failed, reason: getaddrinfo EAI_AGAIN registry.example";
		writeFileSync(path("fake-bin/npm"), `#!/bin/sh\nsleep 6\necho '${fault}' >&2\nexit 1\n`);
		const { code, stdout, stderr } = await project.run(["node", "scripts/run.mjs", "scripts/echo.ts"], { env });
		expect([code, stdout]).toEqual([1, ""]);
		expect(stderr).toMatch(/^Installing: 0 of \d+ packages, 5 s$/m);
		expect(stderr).toContain("The npm registry at https://registry.example cannot be reached (EAI_AGAIN)");
		expect(stderr).toContain("npm config set https-proxy");
	});

	it("is ended at once by a signal, whatever npm waits for", async () => {
		writeFileSync(path("fake-bin/npm"), "#!/bin/sh\ntrap '' TERM\ntouch npm-runs\nwhile :; do sleep 1; done\n");
		const command = "node scripts/run.mjs scripts/echo.ts & until [ -e npm-runs ]; do sleep 0.05; done; kill -TERM $!; wait $!";
		expect((await project.run(["sh", "-c", command], { env })).code).toBe(143);
	});

	it("ends with a message where the installation fails", async () => {
		writeFileSync(path("fake-bin/npm"), "#!/bin/sh\necho no network >&2\nexit 1\n");
		const { code, stderr } = await project.run(["node", "scripts/run.mjs", "scripts/echo.ts"], { env });
		expect(code).toBe(1);
		expect(stderr).toContain("no network\nnpm ci failed");
	});
});

describe("commands with few options", () => {
	const project = new Project();
	const state = join(project.folder, ".wrangler", "state");
	const run = (...given: string[]) => project.run(["node", "scripts/run.mjs", ...given]);

	afterAll(() => project.dispose());

	it("say how they are used, and do nothing else", async () => {
		mkdirSync(state, { recursive: true });
		for (const command of ["reset", "mutate", "start"]) {
			const { code, stdout } = await run(`scripts/${command}.ts`, "--help");
			expect([code, stdout], command).toEqual([0, expect.stringMatching(/^Use `npm /)]);
		}
		expect(existsSync(state)).toBe(true);
	});

	it("do nothing where an option or an argument is not theirs", async () => {
		for (const [command, given] of [
			["reset", "--dry-run"],
			["reset", "state"],
			["mutate", "--all"],
			["start", "--demo"],
		] as const) {
			const { code, stderr } = await run(`scripts/${command}.ts`, given);
			expect([code, stderr], command).toEqual([1, expect.stringMatching(/Use `npm /)]);
			expect(stderr).not.toMatch(/^\s+at /m);
		}
		expect(existsSync(state)).toBe(true);
	});
});
