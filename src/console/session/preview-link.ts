/** What a link into the console would be: nobody is made, and no link ends. */
import { sql } from "drizzle-orm";
import type { LinkPurpose } from "../../lib/access-enums.ts";
import { isoTime } from "../../lib/time.ts";
import { LASTS_MS } from "./invite.ts";
import { disabled, findPersonByName, type KnownPerson, type NewPerson, type PeopleDeps, readNewPerson, taken } from "./people.ts";
import type { SignInLinkPreview } from "./people-answers.ts";

/** @throws HttpError 422 as `invitePerson` does */
export async function previewInvitation({ db, now }: PeopleDeps, wanted: NewPerson): Promise<SignInLinkPreview> {
	const person = await readNewPerson(db, wanted);
	const { publisherId, name, email } = person;
	if ((await findPersonByName(db, publisherId, name)) !== null) throw taken("name");
	// Staff are told apart by them.
	const others =
		publisherId === null && email !== null
			? await db.all(sql`SELECT id FROM console_people WHERE publisher_id IS NULL AND email = ${email}`)
			: [];
	if (others.length > 0) throw taken("email");
	return show({ ...person, id: null }, "invitation", now(), 0);
}

/** @throws HttpError 422 as `issueSignInLink` does */
export async function previewSignInLink({ db, now }: PeopleDeps, person: KnownPerson, purpose: LinkPurpose): Promise<SignInLinkPreview> {
	if (person.disabledAt !== null) throw disabled();
	const at = now();
	const [links] = await db.all<{ count: number }>(
		sql`SELECT COUNT(*) AS count FROM console_links WHERE person_id = ${person.id} AND used_at IS NULL AND expires_at > ${at}`,
	);
	return show(person, purpose, at, links?.count ?? 0);
}

function show(
	{ id, publisherId, name, email, role }: NewPerson & { id: string | null },
	purpose: LinkPurpose,
	at: number,
	ended: number,
): SignInLinkPreview {
	return {
		dry_run: true,
		person: { id, publisher: publisherId, name, email, role },
		purpose,
		url: null,
		expires_at: isoTime(at + LASTS_MS[purpose]),
		ends: ended,
	};
}
