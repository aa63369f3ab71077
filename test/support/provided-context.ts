/** What global setups provide to tests. */
import "vitest";

declare module "vitest" {
	export interface ProvidedContext {
		/** Origin of the publisher's server that start-callback-receiver.ts runs. */
		callbackReceiver: string;
	}
}
