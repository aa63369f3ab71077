/** Global setup of the `mirror` project: where its files note the statements that they ran on both engines, for test/mirror. */
import { Client } from "pg";

export default async function setup(): Promise<() => Promise<void>> {
	await run("DROP TABLE IF EXISTS mirrored_statements");
	await run("CREATE TABLE mirrored_statements (text text NOT NULL)");
	return () => run("DROP TABLE mirrored_statements");
}

async function run(statement: string): Promise<void> {
	const client = new Client({ connectionString: process.env.POSTGRES_URL });
	await client.connect();
	try {
		await client.query(statement);
	} finally {
		await client.end();
	}
}
