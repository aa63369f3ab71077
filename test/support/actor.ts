import type { Actor } from "../../src/http/actor.ts";

/** Whoever acts in tests that call a verb itself. */
export const ACTOR: Actor = { name: "ada", role: "admin", requestId: "request-1" };
