/** Which engine the network database of this run is: `POSTGRES_URL` says so (vitest.config.ts). */
import { env } from "cloudflare:workers";

/** True where it is D1 alone: for tests of what SQLite alone does, such as its query plans. */
export const ON_D1 = env.POSTGRES_URL === "";

/** True where it is both engines at once (mirror.ts). */
export const ON_BOTH = env.MIRROR !== "";
