/** The whole address that a platform is to call: shown without a key, or with one that is issued for it. */
import { sql } from "drizzle-orm";
import * as v from "valibot";
import type { Database } from "../../db/client.ts";
import type { Actor } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import { nameOfAtMost } from "../../http/texts.ts";
import { issueKey } from "../keys/manage-keys.ts";
import { requireRoom } from "../keys/require-room.ts";
import { findNetwork, NETWORK_MACROS, type NetworkMacros, networkOf } from "./network-macros.ts";
import { KEY_PLACE, writePostbackUrl } from "./postback-url.ts";
import type { PostbackUrlAnswer } from "./problems-answers.ts";

export type PostbackUrlDeps = { db: Database; now: () => number; baseUrl: string };

const UNSIGNED = "It has a postback_secret: what comes without its signature, in the parameter sig, is refused.";

const NETWORKS = NETWORK_MACROS.map(({ id }) => id);

export const postbackUrlSchema = v.strictObject({
	/** platforms.id. */
	platform: nameOfAtMost(255),
	/** Whose macros are to stand in it; otherwise the network that the platform's id or name tells. */
	network: v.optional(v.picklist(NETWORKS, `must be one of ${NETWORKS.join(", ")}`)),
});
type Wanted = v.InferOutput<typeof postbackUrlSchema>;

/** @throws HttpError 422 where there is no such platform */
export async function showPostbackUrl(deps: PostbackUrlDeps, wanted: Wanted): Promise<PostbackUrlAnswer> {
	return answer(deps, wanted, await readPlatform(deps.db, wanted), null);
}

/** What {@link issuePostbackUrl} would answer, but for the key. @throws as it does */
export async function previewPostbackUrl(deps: PostbackUrlDeps, wanted: Wanted): Promise<PostbackUrlAnswer> {
	const shown = await showPostbackUrl(deps, wanted);
	await requireRoom(deps, { kind: "platform_key", owner: wanted.platform }, null);
	return shown;
}

/**
 * With a further key, which is shown here alone. Keys that there are stay valid.
 * @throws HttpError 422 where there is no such platform, or it has as many keys as it may
 */
export async function issuePostbackUrl(deps: PostbackUrlDeps, actor: Actor, wanted: Wanted): Promise<PostbackUrlAnswer> {
	const read = await readPlatform(deps.db, wanted);
	const key = { kind: "platform_key", owner: wanted.platform } as const;
	return answer(deps, wanted, read, await issueKey(deps, actor, key, "issuePostbackUrl"));
}

type Platform = { network: NetworkMacros | null; isSigned: boolean };

/** @throws HttpError 422 where there is no such platform */
async function readPlatform(db: Database, { platform, network }: Wanted): Promise<Platform> {
	const [known] = await db.all<{ id: string; name: string; secret: string | null }>(
		sql`SELECT id, name, postback_secret AS secret FROM platforms WHERE id = ${platform}`,
	);
	if (known === undefined) throw invalidInput([{ path: "platform", message: "is no platform's id" }]);
	return { network: network === undefined ? networkOf(known) : findNetwork(network), isSigned: known.secret !== null };
}

function answer(
	{ baseUrl }: PostbackUrlDeps,
	{ platform }: Wanted,
	{ network, isSigned }: Platform,
	key: { id: string; value: string } | null,
): PostbackUrlAnswer {
	const { url, unknown } = writePostbackUrl(baseUrl, key?.value ?? KEY_PLACE, network);
	return {
		platform,
		url,
		network: network?.name ?? null,
		source: network?.source ?? null,
		read: network?.read ?? false,
		note: noteOf(network, isSigned),
		unknown,
		key_id: key?.id ?? null,
	};
}

/** What the address does not say; null for nothing. */
function noteOf(network: NetworkMacros | null, isSigned: boolean): string | null {
	const ofNetwork =
		network?.macros === null ? `${network.name} sends no postbacks that we know of: reconcile its statements.` : network?.note;
	const notes = [ofNetwork, isSigned ? UNSIGNED : undefined].filter((note) => note !== undefined);
	return notes.length === 0 ? null : notes.join(" ");
}
