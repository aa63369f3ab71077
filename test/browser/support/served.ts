/** What the tests of a run share: the service, and the browser. */
import { inject } from "vitest";

export type Served = {
	/** The one host that the service answers on, without a trailing slash. */
	url: string;
	operatorKey: string;
	/** Where the browser is driven. */
	browser: string;
	/** Runs the Worker's minutely work, by any request. */
	cron: string;
};

declare module "vitest" {
	interface ProvidedContext {
		served: Served;
	}
}

export const served: Served = inject("served");
