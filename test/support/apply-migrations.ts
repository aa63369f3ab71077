/** Setup of every test file of the `worker` project: brings both databases to the present schema. */
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import "./worker-env.ts";

await applyD1Migrations(env.DB, env.NETWORK_MIGRATIONS);
await applyD1Migrations(env.PRODUCTS, env.PRODUCTS_MIGRATIONS);
