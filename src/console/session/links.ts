/** One-time links: how they are looked at, and used. */
import { sql } from "drizzle-orm";
import { type Database, runTransaction } from "../../db/client.ts";
import type { PersonRole } from "../../lib/access-enums.ts";
import { type BeginDeps, type Beginner, type SeenPublisher, sessionStatements } from "./sessions.ts";
import { hashToken, newToken } from "./token.ts";

/** Why a link does not open any more. */
export type LinkFault = "used" | "expired" | "unknown" | "disabled";
export type FoundLink = { hash: string; person: Beginner };

type Row = {
	hash: string;
	expiresAt: number;
	usedAt: number | null;
	id: string;
	name: string;
	role: PersonRole;
	publisherId: string | null;
	publisherName: string;
	status: SeenPublisher["status"];
	disabledAt: number | null;
};

/** Whose link this is, or why it does not open. */
export async function findLink(db: Database, token: string, now: number): Promise<FoundLink | LinkFault> {
	const hash = await hashToken(token);
	if (hash === null) return "unknown";
	const [row] = await db.all<Row>(sql`SELECT l.hash, l.expires_at AS "expiresAt", l.used_at AS "usedAt", p.id, p.name, p.role,
			p.publisher_id AS "publisherId", u.name AS "publisherName", u.status, p.disabled_at AS "disabledAt"
		FROM console_links l JOIN console_people p ON p.id = l.person_id LEFT JOIN publishers u ON u.id = p.publisher_id WHERE l.hash = ${hash}`);
	if (row === undefined) return "unknown";
	const { id, name, role, publisherId, publisherName, status } = row;
	if (row.disabledAt !== null) return "disabled";
	if (row.usedAt !== null) return "used";
	if (row.expiresAt <= now) return "expired";
	return { hash, person: { id, name, role, publisher: publisherId === null ? null : { id: publisherId, name: publisherName, status } } };
}

/** Signs in whoever has the link, once. @returns the token of the session, and whose it is; or why the link does not open */
export async function consumeLink(
	{ db, now }: BeginDeps,
	link: string,
	requestId: string,
): Promise<{ token: string; person: Beginner } | LinkFault> {
	const at = now();
	const found = await findLink(db, link, at);
	if (typeof found === "string") return found;
	const { hash, person } = found;
	const token = await newToken();
	const results = await runTransaction(db, [
		sql`UPDATE console_links SET used_at = ${at}, session_hash = ${token.hash} WHERE hash = ${hash} AND used_at IS NULL AND expires_at > ${at}`,
		...sessionStatements(
			token,
			{ person, method: "link", requestId },
			at,
			sql`EXISTS (SELECT 1 FROM console_links WHERE hash = ${hash} AND session_hash = ${token.hash})`,
		),
		sql`SELECT hash FROM console_sessions WHERE hash = ${token.hash}`,
	]);
	// Another one was faster, or the person was disabled meanwhile.
	return results.at(-1)?.results.length === 1 ? { token: token.token, person } : "used";
}
