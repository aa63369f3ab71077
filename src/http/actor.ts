/** Who acts: what stands before the operator's verbs tells them, and each change that they make is kept with it. */
import type { Context } from "hono";
import type { OperatorRole, PersonRole } from "../lib/access-enums.ts";

export type Actor = {
	/** Of the operator key or the member of staff; {@link BREAK_GLASS} where it was OPERATOR_KEY; a publisher's person with the publisher's id. */
	name: string;
	role: PersonRole;
	requestId: string;
};

/** The name of whoever holds OPERATOR_KEY. No operator key has it. */
export const BREAK_GLASS = "operator";

/** Whether a role may do what takes another: an admin everything, every operator what a viewer may, a publisher's person nothing. */
export function mayAct(held: PersonRole, needed: OperatorRole): boolean {
	if (held === "owner" || held === "analyst") return false;
	return held === "admin" || held === needed || needed === "viewer";
}

declare module "hono" {
	interface ContextVariableMap {
		actor: Actor;
	}
}

/** Who makes this request. @throws where nothing that knows stands before the route */
export function actorOf(c: Context): Actor {
	const actor: Actor | undefined = c.get("actor");
	if (actor === undefined) throw new Error("a verb that changes something stands behind no operator key");
	return actor;
}
