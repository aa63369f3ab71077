/** The PostgreSQL database of `npm start -- --postgres`: a server of its own, or the one of DATABASE_URL. */
import { join } from "node:path";
import { Client } from "pg";
import { Failure } from "../local/failure.ts";
import { STATE_DIR } from "../local/paths.ts";
import { migratePostgres } from "./migrate.ts";
import { startPostgres } from "./server.ts";

/** Beside what wrangler keeps, so that `npm run reset` removes both. */
const DATA_DIR = join(STATE_DIR, "postgres");
const DATABASE = "clickbourse";

export type NetworkDatabase = {
	url: string;
	/** Tells it apart from others, at whatever port a server of its own listens. */
	name: string;
	stop: () => Promise<void>;
};

/**
 * Makes it ready for the Worker: there, and migrated.
 * @throws Failure that says what to do
 */
export async function openNetworkDatabase(environment: NodeJS.ProcessEnv): Promise<NetworkDatabase> {
	const given = environment.DATABASE_URL?.trim();
	if (given) {
		const { host, pathname } = demandUrl(given);
		await migratePostgres(given);
		return { url: given, name: host + pathname, stop: () => Promise.resolve() };
	}
	const server = await startPostgres(DATA_DIR);
	try {
		await createDatabase(server.urlOf("postgres"));
		await migratePostgres(server.urlOf(DATABASE));
	} catch (error) {
		await server.stop();
		throw error;
	}
	return { url: server.urlOf(DATABASE), name: DATABASE, stop: server.stop };
}

/** What workerd needs of it. The URL has a password, and is not shown. */
function demandUrl(text: string): URL {
	const url = URL.parse(text);
	const isWhole =
		url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && url.hostname !== "" && url.username !== "" && url.pathname.length > 1;
	if (!isWhole) throw new Failure("DATABASE_URL must be postgres://user:password@host:port/database.");
	return url;
}

async function createDatabase(admin: string): Promise<void> {
	const client = new Client({ connectionString: admin });
	await client.connect();
	try {
		const { rowCount } = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [DATABASE]);
		if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE} TEMPLATE template0 ENCODING 'UTF8'`);
	} finally {
		await client.end();
	}
}
