/** What the tests of a run share: the service, and the browser. */
import { inject } from "vitest";
import { CRON_PATH, RECEIVED_PATH } from "./control.ts";
import type { PageEntry } from "./page-table.ts";
import type { Cookie, Role } from "./sign-in.ts";

export type Served = {
	/** The one host that the service answers on, without a trailing slash. */
	url: string;
	operatorKey: string;
	/** Where the browser is driven. */
	browser: string;
	/** Origin of what control.ts serves. */
	control: string;
	/** Of a session of each. */
	cookies: Record<Role, Cookie[]>;
	/** Addresses to which no page leads. */
	links: string[];
	/** The console's pages. */
	pages: PageEntry[];
};

declare module "vitest" {
	interface ProvidedContext {
		served: Served;
	}
}

export const served: Served = inject("served");

/** Runs the Worker's minutely work now. */
export async function runCron(): Promise<void> {
	const { ok } = await fetch(served.control + CRON_PATH, { method: "POST" });
	if (!ok) throw new Error("the minutely work failed: the server's log says why");
}

/** What publishers were called back with: paths and queries, the oldest first. */
export async function readReceived(): Promise<string[]> {
	return (await (await fetch(served.control + RECEIVED_PATH)).json()) as string[];
}
