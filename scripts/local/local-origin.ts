import { readPort } from "./port.ts";
import { readRunningPort } from "./running.ts";

/**
 * The local server's address: the one that runs in this folder, else where PORT says that it would.
 * @throws Failure where PORT is needed and is no port
 */
export function findLocalOrigin(environment: NodeJS.ProcessEnv): string {
	return `http://localhost:${readRunningPort() ?? readPort(environment)}`;
}
