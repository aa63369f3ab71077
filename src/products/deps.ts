import type { LinkTokens } from "../click-token/link-token.ts";
import type { Database } from "../db/client.ts";
import type { KeyOwners } from "../keys/key-owners.ts";
import type { KeptNetwork } from "./kept-network.ts";

export type ProductsDeps = {
	/** The products database: searches are answered from it only. */
	products: Database;
	/** What is kept of the network. */
	network: KeptNetwork;
	keys: KeyOwners;
	links: LinkTokens;
	/** Origin of the click tracker, without a trailing slash. */
	clickUrl: string;
};
