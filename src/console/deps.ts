/** What pages are given: the same that the endpoints of their verbs have. */
import type { AdjustingDeps } from "../adjustments/deps.ts";
import type { SettleDeps } from "../conversions/settle-postbacks.ts";
import type { Database } from "../db/client.ts";
import type { DataThroughDeps } from "../network-reports/data-through.ts";
import type { ReplayDeps } from "../operator/dead-letters/replay-dead-letters.ts";
import type { KeyVerbDeps } from "../operator/keys/run-key-verbs.ts";
import type { ImportDeps } from "../operator/network/import-network.ts";
import type { ProblemsDeps } from "../operator/postback-problems/read-problems.ts";
import type { StatusDeps } from "../operator/status/read-status.ts";
import type { ProductsDeps } from "../products/deps.ts";
import type { PublisherApiDeps } from "../publisher-api/routes.ts";
import type { ReadAccess } from "./session/access.ts";
import type { PasskeyDeps } from "./session/passkeys.ts";

export type ConsoleDeps = {
	db: Database;
	now: () => number;
	/** Origin of the console, without a trailing slash: the one host that it answers on. */
	consoleUrl: string;
	/** Origin of the publishers' endpoints and of postbacks, without a trailing slash. */
	baseUrl: string;
	/** Whether the network database takes no writes, since it is being moved. */
	isHeld: () => Promise<boolean>;
	/** Of Cloudflare Access; null where it is not set up. */
	access: ReadAccess | null;
	passkeys: PasskeyDeps;
	/** Of the publishers' verbs; of callbacks, explanations and links. */
	publisherApi: PublisherApiDeps;
	/** Of product searches. */
	searching: ProductsDeps;
	/** Of keys, names and callback secrets. */
	issuing: KeyVerbDeps;
	/** Of imports, and of entries of the network file. */
	imports: ImportDeps;
	/** Of adjustments, and of what a person settles. */
	adjusting: AdjustingDeps;
	/** Of problems with postbacks, and statements. */
	mending: ProblemsDeps & SettleDeps;
	/** Of status, reports of the network, and dead letters. */
	watching: StatusDeps & DataThroughDeps & ReplayDeps;
};
