/**
 * Global setup of the `postgres` project: a line to the server that is cut when a test says so. See ../database-proxy.ts for the tests'
 * side of it.
 */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { TestProject } from "vitest/node";
import "../provided-context.ts";

/**
 * Where a line is cut: before the server has the COMMIT of a transaction that writes, in the middle of its statements, or when it has committed and
 * before anybody is told; `always`: it takes no connection.
 */
export type Cut = "before-commit" | "in-the-middle" | "after-commit" | "always" | "never";

const COMMIT = Buffer.from("COMMIT\0");
/** Only what writes takes it; what reads is read again at once. */
const WRITER_LOCK = Buffer.from("pg_advisory_xact_lock");
/** Type and length stand before the text of a query. */
const HEADER_BYTES = 5;

/** By the name of the database, so that test files do not disturb one another. */
const cuts = new Map<string, Cut>();
let happened = 0;

function relay(client: Socket, server: Socket): void {
	let database = "";
	let isWriting = false;
	const cutNow = () => {
		cuts.set(database, "never");
		happened++;
		client.destroy();
		server.destroy();
	};
	client.on("data", (data: Buffer) => {
		// The first message names it: `database`, NUL, the name, NUL.
		if (database === "") database = /database\0([^\0]+)\0/.exec(data.toString("latin1"))?.[1] ?? "";
		const cut = cuts.get(database);
		if (cut === "always") return void client.destroy();
		isWriting ||= data.includes(WRITER_LOCK);
		const commit = data.indexOf(COMMIT);
		if (!isWriting || commit === -1 || cut === undefined || cut === "never" || cut === "after-commit") return void server.write(data);
		const sent = cut === "before-commit" ? commit - HEADER_BYTES : Math.floor(commit / 2);
		server.write(data.subarray(0, sent), cutNow);
	});
	server.on("data", (data: Buffer) => {
		if (isWriting && cuts.get(database) === "after-commit" && data.includes(COMMIT)) cutNow();
		else client.write(data);
	});
	for (const [one, other] of [
		[client, server],
		[server, client],
	] as const) {
		// A broken connection on one side ends the other; there is nobody else to tell.
		one.on("error", () => other.destroy()).on("close", () => other.destroy());
	}
}

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
	const target = new URL(process.env.POSTGRES_URL || "postgres://127.0.0.1:5432/none");
	const line = createServer((client) => relay(client, connect(Number(target.port || 5432), target.hostname)));
	const control = createHttpServer((request, response) => {
		const [, database = "", cut = "never"] = (request.url ?? "").split("/");
		cuts.set(database, cut as Cut);
		response.end(String(happened));
	});
	const [port, controlPort] = await Promise.all([listen(line), listen(control)]);
	provide("databaseProxy", { port, control: `http://127.0.0.1:${controlPort}` });
	return async () => {
		control.closeAllConnections();
		await Promise.all([line, control].map((server) => new Promise((resolve) => server.close(resolve))));
	};
}

function listen(server: Server): Promise<number> {
	return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}
