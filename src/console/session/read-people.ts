/** Shows people as the endpoints answer them: with their passkeys and open sessions, of which no secret is told. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { cutPage } from "../../http/pages.ts";
import type { SignInMethod } from "../../lib/access-enums.ts";
import { isoTime, isoTimeOrNull } from "../../lib/time.ts";
import { listPasskeys } from "./passkeys.ts";
import { type KnownPerson, listPeoplePage } from "./people.ts";
import type { ListedPerson, ShownPerson } from "./people-answers.ts";
import type { PeopleQuery } from "./people-requests.ts";
import { SESSION_ID_LENGTH } from "./people-standing.ts";
import { isOver } from "./sessions.ts";

export type OpenSession = { id: string; method: SignInMethod; createdAt: number; lastSeenAt: number; viewing: string | null };

/** A page of a publisher's people, or of staff, the first that were invited first. */
export async function readPeople(db: Database, { publisher, limit, cursor }: PeopleQuery) {
	const rows = await listPeoplePage(db, publisher ?? null, cursor?.[0] ?? "", limit + 1);
	const { shown, next } = cutPage(rows, limit, ({ id }) => [id]);
	return { data: shown.map(showPerson), limit, next_cursor: next };
}

/** Of someone's sessions, those that are open, the newest first. */
export async function listSessions(db: Database, person: Pick<KnownPerson, "id" | "publisherId">, now: number): Promise<OpenSession[]> {
	const rows = await db.all<OpenSession>(sql`SELECT substr(hash, 1, ${SESSION_ID_LENGTH}) AS id, method, created_at AS "createdAt",
			last_seen_at AS "lastSeenAt", viewing
		FROM console_sessions WHERE person_id = ${person.id} ORDER BY created_at DESC, hash`);
	return rows.filter((row) => !isOver(row, person.publisherId === null, now));
}

export async function readPerson(db: Database, person: KnownPerson, now: number): Promise<ShownPerson> {
	const [passkeys, sessions] = await Promise.all([listPasskeys(db, person.id), listSessions(db, person, now)]);
	return {
		...showPerson(person),
		passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
			id,
			name,
			created_at: isoTime(createdAt),
			last_used_at: isoTimeOrNull(lastUsedAt),
		})),
		sessions: sessions.map(({ id, method, createdAt, lastSeenAt, viewing }) => ({
			id,
			method,
			created_at: isoTime(createdAt),
			last_seen_at: isoTime(lastSeenAt),
			viewing,
		})),
	};
}

function showPerson({ id, publisherId, name, email, role, createdAt, disabledAt }: KnownPerson): ListedPerson {
	const state = disabledAt === null ? "active" : "disabled";
	return { id, publisher: publisherId, name, email, role, state, created_at: isoTime(createdAt) };
}
