/** What publishers have in the book beside their own rows: former names, and Access Keys where the edge has to know them. */
import { and, asc, eq, gt, isNotNull, isNull, or } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { accessKeys, publisherNames, publishers } from "../../db/schema/publishers.ts";
import type { BookAccessKey } from "../book.ts";
import type { FormerNameWire } from "../wire.ts";
import type { Learning } from "./bake-prices.ts";

/** What stands in tables of its own, by publisher. */
export type PublisherParts = {
	former: ReadonlyMap<string, FormerNameWire[]>;
	keys: ReadonlyMap<string, BookAccessKey[]>;
	released: Learning["released"]["publishers"];
};

/** @returns what reads names and keys, for {@link publisherParts} */
export function selectPublisherParts(db: Database, { at }: Learning) {
	return [selectFormerNames(db, at), selectAccessKeys(db, at)] as const;
}

export function publisherParts(names: readonly NameRow[], keys: readonly KeyRow[], { released }: Learning): PublisherParts {
	return { former: byPublisher(names), keys: byOwner(keys), released: released.publishers };
}

type NameRow = typeof publisherNames.$inferSelect;
type KeyRow = Pick<typeof accessKeys.$inferSelect, "hash" | "ownerId" | "expiresAt">;

/** Access Keys that are valid, of publishers with options: `openrtb.nbr` asks for one. */
function selectAccessKeys(db: Database, now: number) {
	const { hash, ownerId, expiresAt } = accessKeys;
	return db
		.select({ hash, ownerId, expiresAt })
		.from(accessKeys)
		.innerJoin(publishers, eq(publishers.id, ownerId))
		.where(and(eq(accessKeys.kind, "access_key"), isNotNull(publishers.openrtb), or(isNull(expiresAt), gt(expiresAt, now))))
		.orderBy(asc(ownerId), asc(hash));
}

function byOwner(rows: readonly KeyRow[]): Map<string, BookAccessKey[]> {
	const keys = new Map<string, BookAccessKey[]>();
	for (const row of rows) {
		const own = keys.get(row.ownerId) ?? [];
		keys.set(row.ownerId, own);
		own.push({ h: row.hash, ...(row.expiresAt !== null && { u: row.expiresAt }) });
	}
	return keys;
}

/** Names that were replaced, by publisher: publisher ids that are still valid, and every identity. */
function selectFormerNames(db: Database, now: number) {
	return db
		.select()
		.from(publisherNames)
		.where(or(eq(publisherNames.kind, "publisher_identity"), gt(publisherNames.expiresAt, now)))
		.orderBy(asc(publisherNames.kind), asc(publisherNames.value));
}

function byPublisher(rows: readonly NameRow[]): Map<string, FormerNameWire[]> {
	const former = new Map<string, FormerNameWire[]>();
	for (const { kind, value, publisherId, expiresAt } of rows) {
		if (expiresAt === null) continue;
		const names = former.get(publisherId) ?? [];
		former.set(publisherId, names);
		names.push({ n: kind === "publisher_id" ? "pubi" : "identity", v: value, u: expiresAt });
	}
	return former;
}
