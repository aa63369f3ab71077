/** The campaign book in the Worker's KV, of whichever format it was published in. */
import { env } from "cloudflare:workers";
import type { BookBrand, BookPublisher } from "../../src/campaign-book/book.ts";
import { type BookSnapshot, CampaignBook, findByIdentity } from "../../src/campaign-book/load.ts";
import type { BookStore } from "../../src/campaign-book/shard-reader.ts";
import "./worker-env.ts";

/** A namespace for {@link openStoredBook}. */
export type BookNamespace = BookStore & {
	get(key: string, options: { type: "arrayBuffer"; cacheTtl: number }): Promise<ArrayBuffer | null>;
};

/** The book as an isolate reads it that has none yet, without the data centre's cache. */
export function openStoredBook({
	kv = env.BOOK,
	snapshotTtlMs = 15_000,
}: {
	kv?: BookNamespace;
	snapshotTtlMs?: number;
} = {}): CampaignBook {
	const chunks = { read: (key: string, cacheTtl: number) => kv.get(key, { type: "arrayBuffer", cacheTtl }) };
	return new CampaignBook(kv, { snapshotTtlMs, chunks });
}

/** The brand of a domain, as a click asks for it; null where the book has none. */
export function storedBrand(domain: string): Promise<BookBrand | null> {
	return askStored((book, snapshot) => book.linkedBrandOf(snapshot, domain));
}

/** The publisher whose identity a click token carries, former ones among them. */
export function storedPublisher(identity: string): Promise<BookPublisher | undefined> {
	return askStored((_, snapshot) => findByIdentity(snapshot, identity, Date.now()));
}

async function askStored<Found>(ask: (book: CampaignBook, snapshot: BookSnapshot) => Found | Promise<Found>): Promise<Found> {
	const book = openStoredBook();
	const background: Promise<unknown>[] = [];
	const snapshot = await book.snapshot(Date.now(), (promise) => void background.push(promise));
	if (snapshot === null) throw new Error("no book is published");
	const found = await ask(book, snapshot);
	await Promise.all(background);
	return found;
}
