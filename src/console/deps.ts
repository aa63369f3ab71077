/** What pages are given: the same that the endpoints of their verbs have. */
import type { Database } from "../db/client.ts";
import type { PublisherApiDeps } from "../publisher-api/routes.ts";

export type ConsoleDeps = {
	db: Database;
	now: () => number;
	/** Origin of the console, without a trailing slash: the one host that it answers on. */
	consoleUrl: string;
	/** Whether the network database takes no writes, since it is being moved. */
	isHeld: () => Promise<boolean>;
	/** Of the publisher's verbs. */
	publisherApi: PublisherApiDeps;
};
