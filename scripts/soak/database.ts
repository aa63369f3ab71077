/** The network database of the soak: the simulator's, or a PostgreSQL whose line is cut and which crashes. */
import { join } from "node:path";
import { Client } from "pg";
import { openLine } from "../postgres/line.ts";
import { migratePostgres } from "../postgres/migrate.ts";
import { startPostgres } from "../postgres/server.ts";
import type { Stack } from "../stack/start-stack.ts";

const DATABASE = "soak";
/** Of the transactions that write. */
const CUT_BEFORE = 0.01;
const CUT_AFTER = 0.02;

export type SoakDatabase = {
	/** Where PostgreSQL is; absent on D1. */
	postgresUrl: string | undefined;
	read: <Row>(stack: Stack, sql: string) => Promise<Row[]>;
	/** Whether lines are cut from now on. */
	setFaults: (areOn: boolean) => void;
	/** Ends the server in the middle of what it does, and starts it again. Null where there is none to restart. */
	crash: (() => Promise<void>) | null;
	counts: { cut: number; crashed: number };
	close: () => Promise<void>;
};

export function useD1(): SoakDatabase {
	return {
		postgresUrl: undefined,
		async read<Row>(stack: Stack, sql: string) {
			const database = await stack.database();
			return (await database.prepare(sql).all<Row>()).results;
		},
		setFaults: () => {},
		crash: null,
		counts: { cut: 0, crashed: 0 },
		close: () => Promise.resolve(),
	};
}

/** @param folder where its data is */
export async function usePostgres(folder: string): Promise<SoakDatabase> {
	const server = await startPostgres(join(folder, "data"));
	const direct = server.urlOf(DATABASE);
	await run(server.urlOf("postgres"), `CREATE DATABASE ${DATABASE} TEMPLATE template0 ENCODING 'UTF8'`);
	await migratePostgres(direct);
	const counts = { cut: 0, crashed: 0 };
	let areOn = false;
	const choose = () => {
		const chance = areOn ? Math.random() : 1;
		if (chance < CUT_BEFORE) return "before-commit";
		return chance < CUT_BEFORE + CUT_AFTER ? "after-commit" : "never";
	};
	const line = await openLine(direct, choose, () => void counts.cut++);
	const url = new URL(direct);
	url.port = String(line.port);
	return {
		postgresUrl: url.href,
		read: <Row>(_: Stack, sql: string) => run<Row>(direct, sql),
		setFaults(on) {
			areOn = on;
		},
		async crash() {
			counts.crashed++;
			await server.crash();
		},
		counts,
		async close() {
			await line.close();
			await server.stop();
		},
	};
}

/** Counts are numbers, as on D1. */
async function run<Row>(connectionString: string, text: string): Promise<Row[]> {
	const client = new Client({ connectionString });
	client.setTypeParser(20, Number);
	await client.connect();
	try {
		return (await client.query(text)).rows as Row[];
	} finally {
		await client.end();
	}
}
