/** A line to a PostgreSQL server that is cut where it hurts: what a network does on a bad day. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * Where a line is cut, of a transaction that writes: before the server has its COMMIT, in the middle of its statements, or when it has
 * committed and before anybody is told; `always`: it takes no connection.
 */
export type Cut = "before-commit" | "in-the-middle" | "after-commit" | "always" | "never";

export type Line = { port: number; close: () => Promise<void> };

const COMMIT = Buffer.from("COMMIT\0");
/** Only what writes takes it; what reads is read again at once. */
const WRITER_LOCK = Buffer.from("LOCK TABLE writer_turn");
/** Type and length stand before the text of a query. */
const HEADER_BYTES = 5;

/**
 * @param server whose line it is: a URL of it
 * @param choose how the next transaction of a database fares
 * @param onCut  told where a transaction was cut off
 */
export async function openLine(server: string, choose: (database: string) => Cut, onCut: (database: string) => void): Promise<Line> {
	const { hostname, port } = new URL(server);
	const open = new Set<Socket>();
	const listener = createServer((client) => {
		open.add(client.on("close", () => open.delete(client)));
		relay(client, connect(Number(port || 5432), hostname), choose, onCut);
	});
	await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
	return {
		port: (listener.address() as AddressInfo).port,
		close: () =>
			new Promise((resolve) => {
				for (const client of open) client.destroy();
				listener.close(() => resolve());
			}),
	};
}

function relay(client: Socket, server: Socket, choose: (database: string) => Cut, onCut: (database: string) => void): void {
	let database = "";
	let isWriting = false;
	let cut: Cut = "never";
	const cutNow = () => {
		onCut(database);
		client.destroy();
		server.destroy();
	};
	client.on("data", (data: Buffer) => {
		if (database === "") {
			// The first message names it: `database`, NUL, the name, NUL.
			database = /database\0([^\0]+)\0/.exec(data.toString("latin1"))?.[1] ?? "";
			if (choose(database) === "always") return void client.destroy();
		}
		if (!isWriting && data.includes(WRITER_LOCK)) {
			isWriting = true;
			cut = choose(database);
		}
		const commit = isWriting ? data.indexOf(COMMIT) : -1;
		if (commit === -1 || cut === "never" || cut === "after-commit") return void server.write(data);
		const sent = cut === "before-commit" ? commit - HEADER_BYTES : Math.floor(commit / 2);
		server.write(data.subarray(0, sent), cutNow);
	});
	server.on("data", (data: Buffer) => {
		const hasEnded = isWriting && data.includes(COMMIT);
		if (hasEnded && cut === "after-commit") return cutNow();
		if (hasEnded) isWriting = false;
		client.write(data);
	});
	for (const [one, other] of [
		[client, server],
		[server, client],
	] as const) {
		// A broken connection on one side ends the other; there is nobody else to tell.
		one.on("error", () => other.destroy()).on("close", () => other.destroy());
	}
}
