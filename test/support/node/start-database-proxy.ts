/**
 * Global setup of the `postgres` project: a line to the server that is cut when a test says so. See ../database-proxy.ts for the tests'
 * side of it.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { type Cut, openLine } from "../../../scripts/postgres/line.ts";
import "../provided-context.ts";

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
	/** By the name of the database, so that test files do not disturb one another. */
	const cuts = new Map<string, Cut>();
	let happened = 0;
	const line = await openLine(
		process.env.POSTGRES_URL ?? "",
		(database) => cuts.get(database) ?? "never",
		(database) => {
			cuts.set(database, "never");
			happened++;
		},
	);
	const control = createServer((request, response) => {
		const [, database = "", cut = "never"] = (request.url ?? "").split("/");
		cuts.set(database, cut as Cut);
		response.end(String(happened));
	});
	await new Promise<void>((resolve) => control.listen(0, "127.0.0.1", resolve));
	provide("databaseProxy", { port: line.port, control: `http://127.0.0.1:${(control.address() as AddressInfo).port}` });
	return async () => {
		control.closeAllConnections();
		await new Promise((resolve) => control.close(resolve));
		await line.close();
	};
}
