/**
 * /operator/people: who may sign in to the console, and what they sign in with. The same verbs as the pages of people; whoever is new is
 * invited by POST /operator/sign-in-links. An Access Key has none of this: it lies on servers, and is to be worth no way into the console.
 */
import { type Context, Hono } from "hono";
import type * as v from "valibot";
import { type Actor, actorOf } from "../../http/actor.ts";
import { notThere } from "../../http/errors.ts";
import { readBody, readDryRun, readQuery } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { removePasskey } from "./passkeys.ts";
import { findAnyone, type KnownPerson, type PeopleDeps, readRole } from "./people.ts";
import type { ChangedPerson, ShownPerson } from "./people-answers.ts";
import { passkeyRequestSchema, peopleQuerySchema, roleRequestSchema, signOutRequestSchema } from "./people-requests.ts";
import { assertNotNeeded, assertRole, changeRole, disablePerson, enablePerson, endOneSession, endSessions } from "./people-standing.ts";
import { readPeople, readPerson } from "./read-people.ts";

/** A change of someone: what it refuses, what it does, and what they are then. */
type Change = {
	check?: () => Promise<void>;
	run: () => Promise<void>;
	/** Pure. */
	preview: (shown: ShownPerson) => ShownPerson;
};

export function peopleRoutes(deps: PeopleDeps): Hono {
	const { db, now } = deps;
	const app = new Hono();
	app.get("/", async (c) => jsonResponse(await readPeople(db, readQuery(peopleQuerySchema, c.req.query()))));
	app.get("/:id", async (c) => jsonResponse(await readPerson(db, await findAnyone(db, c.req.param("id")), now())));
	/** @param schema of the body; null for a verb without one */
	const change = <Body>(
		verb: string,
		schema: v.GenericSchema<unknown, Body> | null,
		make: (asked: { actor: Actor; person: KnownPerson; body: Body }) => Change,
	) =>
		app.post(`/:id/${verb}`, async (c: Context) => {
			const isDryRun = readDryRun(c.req.query());
			const body = schema === null ? (undefined as Body) : await readBody(c.req.raw, schema);
			const person = await findAnyone(db, c.req.param("id") ?? "");
			const { check, run, preview } = make({ actor: actorOf(c), person, body });
			await check?.();
			if (!isDryRun) await run();
			const shown = await readPerson(db, isDryRun ? person : await findAnyone(db, person.id), now());
			const answer: ChangedPerson = { dry_run: isDryRun, person: isDryRun ? preview(shown) : shown };
			return jsonResponse(answer);
		});

	change("role", roleRequestSchema, ({ actor, person, body: { role, was } }) => ({
		async check() {
			assertRole(person, was);
			if (readRole(person.publisherId, role) !== person.role) await assertNotNeeded(db, actor, person, "role");
		},
		run: () => changeRole(deps, actor, person, role),
		preview: (shown) => ({ ...shown, role }),
	}));
	change("disable", null, ({ actor, person }) => ({
		check: () => assertNotNeeded(db, actor, person, ""),
		run: () => disablePerson(deps, actor, person),
		preview: (shown) => ({ ...shown, state: "disabled", sessions: [] }),
	}));
	change("enable", null, ({ actor, person }) => ({
		run: () => enablePerson(deps, actor, person),
		preview: (shown) => ({ ...shown, state: "active" }),
	}));
	change("sign-out", signOutRequestSchema, ({ actor, person, body: { session } }) => ({
		run: () => (session === undefined ? endSessions(deps, actor, person) : endOneSession(deps, actor, person, session)),
		preview: (shown) => ({ ...shown, sessions: session === undefined ? [] : without(shown.sessions, session) }),
	}));
	change("remove-passkey", passkeyRequestSchema, ({ actor, person, body: { passkey } }) => ({
		run: () => removePasskey(deps, actor, person, passkey),
		preview: (shown) => ({ ...shown, passkeys: without(shown.passkeys, passkey) }),
	}));
	return app;
}

/** @throws HttpError 404 where there is none of this id, as what removes it does */
function without<One extends { id: string }>(all: readonly One[], id: string): One[] {
	if (!all.some((one) => one.id === id)) throw notThere("They have none of this id.");
	return all.filter((one) => one.id !== id);
}
