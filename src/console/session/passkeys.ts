/** Passkeys: made by someone who is signed in, and then another way to sign in, and to confirm who one is. */
import {
	type AuthenticationResponseJSON,
	type AuthenticatorTransport,
	generateAuthenticationOptions,
	generateRegistrationOptions,
	type PublicKeyCredentialCreationOptionsJSON,
	type PublicKeyCredentialRequestOptionsJSON,
	type RegistrationResponseJSON,
	verifyAuthenticationResponse,
	verifyRegistrationResponse,
} from "@simplewebauthn/server";
import { type SQL, sql } from "drizzle-orm";
import * as v from "valibot";
import { auditStatement } from "../../audit/audit-statement.ts";
import { type Database, runTransaction } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput, notThere } from "../../http/errors.ts";
import { wordsOfAtMost } from "../../http/texts.ts";
import { fromBase64Url, toBase64Url } from "../../lib/base64-url.ts";
import { parseJson } from "../../lib/json.ts";
import { logInfo } from "../../lib/log.ts";
import { utf8 } from "../../lib/utf8.ts";
import { type ChallengeDeps, type ChallengeFor, isOurs, newChallenge, useUp } from "./challenges.ts";
import type { Beginner, Person, SeenPublisher } from "./sessions.ts";

export type PasskeyDeps = ChallengeDeps & {
	/** Origin of the console: passkeys are made for its host, and used there alone. */
	consoleUrl: string;
};

export type KnownPasskey = { id: string; name: string; createdAt: number; lastUsedAt: number | null };

/** Of a person; as many as anybody may need. */
const MAX_PASSKEYS = 20;
const SITE = "Clickbourse";

const passkeyName = wordsOfAtMost(64);
const text = v.pipe(v.string(), v.maxLength(16_384));
/** What browsers answer; the rest of it is read by the library that verifies it. */
const credential = v.looseObject({
	id: text,
	rawId: text,
	type: v.literal("public-key"),
	response: v.looseObject({ clientDataJSON: text }),
});
export const registrationSchema = v.strictObject({ name: v.optional(passkeyName, "Passkey"), response: credential });
export const assertionSchema = v.strictObject({ response: credential });

export function listPasskeys(db: Database, personId: string): Promise<KnownPasskey[]> {
	return db.all<KnownPasskey>(sql`SELECT credential_id AS id, name, created_at AS "createdAt", last_used_at AS "lastUsedAt"
		FROM console_passkeys WHERE person_id = ${personId} ORDER BY created_at, credential_id`);
}

/** Those of all of a publisher's people who may sign in, with whose they are. */
export function listPasskeysOf(db: Database, publisherId: string): Promise<(KnownPasskey & { personId: string; person: string })[]> {
	return db.all(sql`SELECT k.credential_id AS id, k.name, k.created_at AS "createdAt", k.last_used_at AS "lastUsedAt",
			p.id AS "personId", p.name AS person
		FROM console_people p JOIN console_passkeys k ON k.person_id = p.id
		WHERE p.publisher_id = ${publisherId} AND p.disabled_at IS NULL ORDER BY p.name, k.created_at, k.credential_id`);
}

/** What a browser is asked, to make a passkey. */
export async function askToRegister(deps: PasskeyDeps, person: Person): Promise<PublicKeyCredentialCreationOptionsJSON> {
	const known = await listPasskeys(deps.db, person.id);
	if (known.length >= MAX_PASSKEYS) throw invalidInput([{ path: "", message: `you have ${MAX_PASSKEYS} passkeys already: remove one` }]);
	return generateRegistrationOptions({
		rpName: SITE,
		rpID: hostOf(deps),
		userID: new Uint8Array(utf8(person.id)),
		userName: person.publisher === null ? person.name : `${person.name} (${person.publisher.name})`,
		challenge: await newChallenge(deps, { purpose: "register", personId: person.id }),
		attestationType: "none",
		excludeCredentials: known.map(({ id }) => ({ id })),
		authenticatorSelection: { residentKey: "required", userVerification: "required" },
	});
}

/** Keeps a passkey that was made. @throws HttpError 422 for one that was made for something else, or is known */
export async function registerPasskey(
	deps: PasskeyDeps,
	actor: Actor,
	person: Person,
	{ name, response }: v.InferOutput<typeof registrationSchema>,
): Promise<void> {
	const signed = await answered(deps, { purpose: "register", personId: person.id }, (expected) =>
		verifyRegistrationResponse({
			response: response as unknown as RegistrationResponseJSON,
			...expected,
			requireUserVerification: true,
		}),
	);
	const { credential: made } = signed.registrationInfo ?? refuse();
	const at = deps.now();
	const isMade = sql`EXISTS (SELECT 1 FROM console_passkeys WHERE credential_id = ${made.id} AND person_id = ${person.id} AND created_at = ${at})`;
	const [kept] = await runTransaction(deps.db, [
		sql`INSERT INTO console_passkeys (credential_id, person_id, public_key, counter, transports, name, created_at)
			SELECT ${made.id}, ${person.id}, ${toBase64Url(made.publicKey)}, ${made.counter}, ${JSON.stringify(made.transports ?? [])}, ${name}, ${at}
			WHERE (SELECT count(*) FROM console_passkeys WHERE person_id = ${person.id}) < ${MAX_PASSKEYS}
			ON CONFLICT DO NOTHING RETURNING credential_id`,
		auditStatement(actor, at, { verb: "addPasskey", subjectKind: "person", subjectId: person.id, after: { name } }, { where: isMade }),
	]);
	if (kept?.results.length !== 1) throw invalidInput([{ path: "", message: "this passkey is known already" }]);
}

/**
 * It may be on a device that is lost: whoever has signed in by a passkey is signed out with it.
 * @param kept hash of the session that stays, which removes it; null where none does
 * @throws HttpError 404 where the person has no such passkey
 */
export async function removePasskey(
	{ db, now }: Pick<PasskeyDeps, "db" | "now">,
	actor: Actor,
	person: Pick<Person, "id">,
	id: string,
	kept: string | null = null,
): Promise<void> {
	const isTheirs = sql`credential_id = ${id} AND person_id = ${person.id}`;
	const entry = { verb: "removePasskey", subjectKind: "person", subjectId: person.id } as const;
	const isThere = sql`EXISTS (SELECT 1 FROM console_passkeys WHERE ${isTheirs})`;
	const [, , removed] = await runTransaction(db, [
		auditStatement(actor, now(), entry, { where: isThere }),
		sql`DELETE FROM console_sessions WHERE person_id = ${person.id} AND method = 'passkey' AND hash <> ${kept ?? ""} AND ${isThere}`,
		sql`DELETE FROM console_passkeys WHERE ${isTheirs} RETURNING credential_id`,
	]);
	if (removed?.results.length !== 1) throw notThere("There is no such passkey: it may be removed already.");
}

/** What a browser is asked, to use a passkey. @param person who is to confirm; null to sign in, whoever it is */
export async function askToUse(deps: PasskeyDeps, person: Person | null): Promise<PublicKeyCredentialRequestOptionsJSON> {
	const known = person === null ? [] : await listPasskeys(deps.db, person.id);
	return generateAuthenticationOptions({
		rpID: hostOf(deps),
		challenge: await newChallenge(deps, usedFor(person)),
		userVerification: "required",
		...(person !== null && { allowCredentials: known.map(({ id }) => ({ id })) }),
	});
}

type Row = {
	personId: string;
	publicKey: string;
	counter: number;
	transports: string;
	name: string;
	role: Person["role"];
	publisherId: string | null;
	publisherName: string;
	status: SeenPublisher["status"];
};

/** Whose passkey was used, and a condition that holds as long as they have it: what it opens is written where it does. */
type UsedPasskey = { person: Beginner; isKept: SQL };

/**
 * Whose passkey this is.
 * @param person whose it has to be; null for whoever signs in
 * @throws HttpError 422 where nobody who may sign in has it, or was not asked for
 */
export async function usePasskey(
	deps: PasskeyDeps,
	person: Person | null,
	response: v.InferOutput<typeof credential>,
): Promise<UsedPasskey> {
	const [row] =
		await deps.db.all<Row>(sql`SELECT k.person_id AS "personId", k.public_key AS "publicKey", k.counter, k.transports, p.name, p.role,
			p.publisher_id AS "publisherId", u.name AS "publisherName", u.status
		FROM console_passkeys k JOIN console_people p ON p.id = k.person_id LEFT JOIN publishers u ON u.id = p.publisher_id
		WHERE k.credential_id = ${response.id} AND p.disabled_at IS NULL`);
	const publicKey = row === undefined ? null : fromBase64Url(row.publicKey);
	if (row === undefined || publicKey === null || (person !== null && person.id !== row.personId)) return refuse();
	const { authenticationInfo } = await answered(deps, usedFor(person), (expected) =>
		verifyAuthenticationResponse({
			response: response as unknown as AuthenticationResponseJSON,
			...expected,
			requireUserVerification: true,
			credential: {
				id: response.id,
				publicKey: new Uint8Array(publicKey),
				counter: row.counter,
				transports: JSON.parse(row.transports) as AuthenticatorTransport[],
			},
		}),
	);
	const { newCounter } = authenticationInfo;
	// As it is now: a copy of it may have been used meanwhile, or it may be removed. Passkeys that do not count stay at zero.
	const used = await deps.db.all(sql`UPDATE console_passkeys SET counter = ${newCounter}, last_used_at = ${deps.now()}
		WHERE credential_id = ${response.id} AND counter <= ${Math.max(0, newCounter - 1)} RETURNING credential_id`);
	if (used.length !== 1) return refuse();
	const { personId, name, role, publisherId, publisherName, status } = row;
	return {
		person: { id: personId, name, role, publisher: publisherId === null ? null : { id: publisherId, name: publisherName, status } },
		isKept: sql`EXISTS (SELECT 1 FROM console_passkeys WHERE credential_id = ${response.id} AND person_id = ${personId})`,
	};
}

function usedFor(person: Person | null): ChallengeFor {
	return person === null ? { purpose: "sign_in", personId: null } : { purpose: "confirm", personId: person.id };
}

function hostOf({ consoleUrl }: PasskeyDeps): string {
	return new URL(consoleUrl).hostname;
}

type Expected = { expectedChallenge: (challenge: string) => Promise<boolean>; expectedOrigin: string; expectedRPID: string };

/** Has an answer verified, whose challenge is ours and was not used before. @throws HttpError 422 where it is not */
async function answered<Answer extends { verified: boolean }>(
	deps: PasskeyDeps,
	wanted: ChallengeFor,
	verify: (expected: Expected) => Promise<Answer>,
): Promise<Answer> {
	let challenge = "";
	const expectedChallenge = async (given: string) => {
		challenge = given;
		return isOurs(deps, given, wanted);
	};
	let answer: Answer;
	try {
		answer = await verify({ expectedChallenge, expectedOrigin: deps.consoleUrl, expectedRPID: hostOf(deps) });
	} catch (error) {
		// The library's word for whatever does not fit; what it was handed comes from a browser.
		logInfo("console.passkey_refused", { reason: error instanceof Error ? error.message : "unknown" });
		return refuse();
	}
	if (!answer.verified || !(await useUp(deps, challenge))) return refuse();
	return answer;
}

function refuse(): never {
	throw invalidInput([
		{
			path: "",
			message: "this passkey was not accepted: it is not known here, was made for another address, or took too long. Try again.",
		},
	]);
}

/** A body of JSON. @throws HttpError 422 where it is none of this shape */
export function readPasskeyBody<Output>(schema: v.GenericSchema<unknown, Output>, body: string): Output {
	const read = v.safeParse(schema, parseJson(body));
	return read.success ? read.output : refuse();
}
