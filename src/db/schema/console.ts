/** Who may sign in to the console, and what they have signed in with. Tokens are kept as hashes alone. */
import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { CHALLENGE_PURPOSES, LINK_PURPOSES, PERSON_ROLES, SIGN_IN_METHODS } from "../../lib/access-enums.ts";

/** People of publishers, and the operator's staff. They are disabled, never removed: the audit names them. */
export const consolePeople = sqliteTable(
	"console_people",
	{
		/** Time-ordered. */
		id: text().primaryKey(),
		/** publishers.id; null for staff. */
		publisherId: text("publisher_id"),
		/** Unique in its publisher, and among staff. */
		name: text().notNull(),
		/** Lower case; Cloudflare Access knows staff by it. */
		email: text(),
		/** One of a publisher's roles, or of the operator's for staff. */
		role: text({ enum: PERSON_ROLES }).notNull(),
		createdAt: integer("created_at").notNull(),
		/** Null while they may sign in. */
		disabledAt: integer("disabled_at"),
	},
	(table) => [
		uniqueIndex("console_people_by_name").on(table.publisherId, table.name).where(sql`publisher_id IS NOT NULL`),
		uniqueIndex("console_staff_by_name").on(table.name).where(sql`publisher_id IS NULL`),
		uniqueIndex("console_staff_by_email").on(table.email).where(sql`publisher_id IS NULL AND email IS NOT NULL`),
	],
);

/** One-time links: what a link's page consumes. */
export const consoleLinks = sqliteTable(
	"console_links",
	{
		/** SHA-256 of the token, lower-case hex. */
		hash: text().primaryKey(),
		/** console_people.id. */
		personId: text("person_id").notNull(),
		purpose: text({ enum: LINK_PURPOSES }).notNull(),
		createdAt: integer("created_at").notNull(),
		expiresAt: integer("expires_at").notNull(),
		/** When it was used, or ended by a newer one; null while it may be used. */
		usedAt: integer("used_at"),
		/** Of the session that it began: which of two who use it at once has won. */
		sessionHash: text("session_hash"),
	},
	(table) => [index("console_links_by_person").on(table.personId), index("console_links_by_expiry").on(table.expiresAt)],
);

/** Who is signed in. A row that is removed is a session that has ended. */
export const consoleSessions = sqliteTable(
	"console_sessions",
	{
		/** SHA-256 of the cookie's token, lower-case hex. */
		hash: text().primaryKey(),
		/** console_people.id. */
		personId: text("person_id").notNull(),
		method: text({ enum: SIGN_IN_METHODS }).notNull(),
		createdAt: integer("created_at").notNull(),
		/** A minute behind at most. */
		lastSeenAt: integer("last_seen_at").notNull(),
		/** When a passkey or a link was last used; null where neither was. */
		freshAt: integer("fresh_at"),
		/** The publisher whose console a member of staff looks at; null otherwise. */
		viewing: text(),
	},
	(table) => [index("console_sessions_by_person").on(table.personId), index("console_sessions_by_creation").on(table.createdAt)],
);

export const consolePasskeys = sqliteTable(
	"console_passkeys",
	{
		/** As browsers tell it, base64url. */
		credentialId: text("credential_id").primaryKey(),
		/** console_people.id. */
		personId: text("person_id").notNull(),
		/** COSE, base64url. */
		publicKey: text("public_key").notNull(),
		counter: integer().notNull(),
		/** JSON array of texts. */
		transports: text().notNull(),
		/** What its owner calls it. */
		name: text().notNull(),
		createdAt: integer("created_at").notNull(),
		lastUsedAt: integer("last_used_at"),
	},
	(table) => [index("console_passkeys_by_person").on(table.personId)],
);

/** What passkeys have signed, until it would be too old, and forms whose answer is shown once: none counts twice. */
export const consoleChallenges = sqliteTable(
	"console_challenges",
	{
		/** SHA-256 of the challenge, or of the session and the form, lower-case hex. */
		challenge: text().primaryKey(),
		purpose: text({ enum: CHALLENGE_PURPOSES }).notNull(),
		/** console_people.id; null where nobody is signed in yet. */
		personId: text("person_id"),
		expiresAt: integer("expires_at").notNull(),
	},
	(table) => [index("console_challenges_by_expiry").on(table.expiresAt)],
);
