/** What global setups provide to tests. */
import "vitest";

declare module "vitest" {
	export interface ProvidedContext {
		/** Origin of the publisher's server that start-callback-receiver.ts runs. */
		callbackReceiver: string;
		/** What start-database-proxy.ts runs: the port of the line, and where it is told how to cut it. */
		databaseProxy: { port: number; control: string };
	}
}
