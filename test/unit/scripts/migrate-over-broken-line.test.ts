import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { Failure } from "../../../scripts/local/failure.ts";
import { listMigrations, migratePostgres } from "../../../scripts/postgres/migrate.ts";

function message(type: string, body: Buffer): Buffer {
	const length = Buffer.alloc(4);
	length.writeInt32BE(body.length + 4);
	return Buffer.concat([Buffer.from(type), length, body]);
}

const READY = message("Z", Buffer.from("I"));
const DONE = Buffer.concat([message("C", Buffer.from("OK\0")), READY]);
const WELCOME = Buffer.concat([message("R", Buffer.alloc(4)), READY]);

let server: Server | undefined;
afterEach(() => server?.close());

/** A server that takes every statement, and whose line breaks at one that holds a text. */
async function startServer(breaking: string): Promise<string> {
	const serve = (socket: Socket) => {
		let isOpen = false;
		socket.on("data", (data: Buffer) => {
			if (data.includes(breaking)) return socket.destroy();
			if (data[0] === "X".charCodeAt(0)) return socket.end();
			socket.write(isOpen ? DONE : WELCOME);
			isOpen = true;
		});
	};
	server = createServer(serve);
	await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
	return `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/d?sslmode=disable`;
}

it.each(["BEGIN", "COMMIT"])("unit: a line that breaks at %s of a migration is told in words, and what to do", async (statement) => {
	const error = await migratePostgres(await startServer(statement)).then(
		() => null,
		(thrown: unknown) => thrown,
	);
	expect(error).toBeInstanceOf(Failure);
	expect(String(error)).toContain(listMigrations()[0] ?? "none");
	expect(String(error)).toContain("run this again");
});
