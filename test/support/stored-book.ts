/** The campaign book in the Worker's KV, of whichever format it was published in. */
import { env } from "cloudflare:workers";
import { type BookBrand, domainKey } from "../../src/campaign-book/format.ts";
import { CampaignBook } from "../../src/campaign-book/load.ts";
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";
import "./worker-env.ts";

/** A namespace for {@link openStoredBook}. */
export type BookNamespace = BookStore & { get(key: string, options: { type: "arrayBuffer"; cacheTtl: number }): Promise<ArrayBuffer | null> };

/** The book as an isolate reads it that has none yet, without the data centre's cache. */
export function openStoredBook({ kv = env.BOOK, snapshotTtlMs = 15_000 }: { kv?: BookNamespace; snapshotTtlMs?: number } = {}): CampaignBook {
	const chunks = { read: (key: string, cacheTtl: number) => kv.get(key, { type: "arrayBuffer", cacheTtl }) };
	return new CampaignBook(kv, { snapshotTtlMs, chunks });
}

/** The brand of a domain, as a click asks for it; null where the book has none. */
export async function storedBrand(domain: string): Promise<BookBrand | null> {
	const book = openStoredBook();
	const background: Promise<unknown>[] = [];
	const snapshot = await book.snapshot(Date.now(), (promise) => void background.push(promise));
	if (snapshot === null) throw new Error("no book is published");
	const brand = await book.linkedBrandOf(snapshot, domain);
	await Promise.all(background);
	return brand;
}
