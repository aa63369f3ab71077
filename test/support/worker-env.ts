/** Types of what `cloudflare:workers` gives to tests in the `worker` project: the Worker's own bindings and the migrations. */
import type { D1Migration } from "cloudflare:test";

declare global {
	namespace Cloudflare {
		interface Env {
			BOOK: KVNamespace;
			DB: D1Database;
			PRODUCTS: D1Database;
			CALLBACKS: Queue;
			ARCHIVE: R2Bucket;
			TOKEN_KEYS: string;
			OPERATOR_KEY: string;
			/** How many histories the property test of conversions runs; empty for its own number. */
			PROPERTY_RUNS: string;
			POSTGRES_URL: string;
			/** In the `postgres` project, where `DB` is PostgreSQL: the D1 database that is bound as `DB` otherwise, without tables but in a mirror. */
			D1: D1Database;
			/** `true` in the `mirror` project, where `DB` is both engines at once, and `D1` the one of them. */
			MIRROR: string;
			/** In the `mirror` project, the other one. */
			POSTGRES_DB: D1Database;
			POSTGRES: { connectionString: string };
			/** Names of bindings that keep something. */
			STORES: { databases: string[]; lists: string[]; rates: string[] };
			NETWORK_MIGRATIONS: D1Migration[];
			PRODUCTS_MIGRATIONS: D1Migration[];
		}
		interface GlobalProps {
			mainModule: typeof import("../../src/worker.ts");
		}
	}
}
