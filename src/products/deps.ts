import type { LinkTokens } from "../click-token/link-token.ts";
import type { Database } from "../db/client.ts";
import type { KeyOwners } from "../db/key-owners.ts";

export type ProductsDeps = {
	/** The network: brands, campaigns, publishers. */
	db: Database;
	/** The products database, which alone answers searches. */
	products: Database;
	keys: KeyOwners;
	links: LinkTokens;
	/** Origin of the click tracker, without a trailing slash. */
	clickUrl: string;
};
