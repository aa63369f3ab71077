/** Staff that Cloudflare Access lets in: it says by whose address, in a signed token of this very application. */
import { cloudflareAccess } from "@hono/cloudflare-access";
import { sql } from "drizzle-orm";
import type { Context } from "hono";
import type { Database } from "../../db/client.ts";
import type { PersonRole } from "../../lib/access-enums.ts";
import type { Beginner } from "./sessions.ts";

/** The address that a request proves to be of, lower case; null where it proves none. */
export type ReadAccess = (c: Context) => Promise<string | null>;

/** @param team the name before `.cloudflareaccess.com` @param aud the application's AUD tag: a token of another one proves nothing */
export function openAccess(team: string, aud: string): ReadAccess {
	const check = cloudflareAccess(team, aud);
	return async (c) => {
		let isProved = false;
		await check(c, async () => {
			isProved = true;
		});
		const email: unknown = isProved ? c.get("accessPayload").email : null;
		return typeof email === "string" && email !== "" ? email.toLowerCase() : null;
	};
}

/** The member of staff of an address; null where there is none that may sign in. */
export async function findStaffByEmail(db: Database, email: string): Promise<Beginner | null> {
	const [found] = await db.all<{ id: string; name: string; role: PersonRole }>(
		sql`SELECT id, name, role FROM console_people WHERE publisher_id IS NULL AND email = ${email} AND disabled_at IS NULL`,
	);
	return found === undefined ? null : { ...found, publisher: null };
}
