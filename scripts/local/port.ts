import { connect, createServer, type Server } from "node:net";
import { errorCode, Failure } from "./failure.ts";

const DEFAULT_PORT = 8787;

/** The port of the local server: PORT, else 8787. */
export function readPort(environment: NodeJS.ProcessEnv): number {
	const text = environment.PORT?.trim();
	if (!text) return DEFAULT_PORT;
	const port = Number(text);
	if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
	throw new Failure(`PORT is ${JSON.stringify(text)}, but must be a number from 1 to 65535. Try: PORT=8788 npm start`);
}

/** @throws Failure where something else listens on the port */
export async function demandFreePort(port: number): Promise<void> {
	try {
		const server = await listen(port, "127.0.0.1");
		await new Promise((resolve) => server.close(resolve));
	} catch (error) {
		const code = errorCode(error);
		if (code === "EACCES") throw new Failure(`Port ${port} may not be used by this user. Choose one above 1023: PORT=8788 npm start`);
		if (code !== "EADDRINUSE") throw error;
		throw new Failure(
			`Port ${port} is already in use. Stop what listens there (lsof -i :${port} shows it), or choose another port:\n\n  PORT=${port < 65_535 ? port + 1 : port - 1} npm start`,
		);
	}
}

/**
 * Makes the server on 127.0.0.1 answer on ::1 as well, because `localhost` may mean either. Returns null where there is no IPv6 or
 * the port is taken there.
 */
export async function forwardIpv6(port: number): Promise<Server | null> {
	const server = createServer((client) => {
		const upstream = connect(port, "127.0.0.1");
		client.pipe(upstream).pipe(client);
		// A broken connection on one side ends the other; there is nobody else to tell.
		client.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
		upstream.on("error", () => client.destroy()).on("close", () => client.destroy());
	});
	try {
		return await listen(port, "::1", server);
	} catch (error) {
		if (["EADDRNOTAVAIL", "EAFNOSUPPORT", "EADDRINUSE", "EINVAL"].includes(errorCode(error) ?? "")) return null;
		throw error;
	}
}

function listen(port: number, host: string, server = createServer()): Promise<Server> {
	return new Promise((resolve, reject) => {
		server.once("error", reject);
		server.listen({ port, host, ipv6Only: host.includes(":") }, () => resolve(server));
	});
}
