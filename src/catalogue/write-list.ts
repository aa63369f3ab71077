/** Writes a brand list as a stream of JSON text. */
import type { LinkTokens } from "../click-token/link-token.ts";
import type { Database } from "../db/client.ts";
import type { Publisher } from "../keys/key-owners.ts";
import { utf8 } from "../lib/utf8.ts";
import type { ListRequest } from "./list-request.ts";
import { type ListedBrand, type PageSizes, readPages } from "./read-pages.ts";
import { writeRecord } from "./write-record.ts";

export type WriteListDeps = {
	db: Database;
	links: LinkTokens;
	/** Origin of tracking links, without a trailing slash. */
	trackerUrl: string;
	pageSizes?: PageSizes;
};

/**
 * The list's bytes, or null where no brand matches. The first page is read before this resolves: a database that cannot be read
 * is an error here. One that fails later breaks the stream off, so that a part is never taken for the whole.
 */
export async function writeList(
	{ db, links, trackerUrl, pageSizes }: WriteListDeps,
	publisher: Publisher,
	request: ListRequest,
): Promise<ReadableStream<Uint8Array> | null> {
	const pages = readPages(db, publisher, request, pageSizes);
	const first = await pages.next();
	if (first.done) return null;
	const writeOne = recordWriter({ links, trackerUrl }, publisher, request.by);
	const writePage = async (brands: readonly ListedBrand[]) => (await Promise.all(brands.map(writeOne))).join(",");

	async function* chunks(opening: readonly ListedBrand[]): AsyncGenerator<Uint8Array> {
		yield utf8(`{"success":true,"data":[${await writePage(opening)}`);
		for await (const brands of pages) {
			// Lets what is written go out first, where the database answers from this very process.
			await scheduler.wait(0);
			yield utf8(`,${await writePage(brands)}`);
		}
		yield utf8("]}");
	}

	return streamOf(chunks(first.value));
}

/** How a brand's record is written for a publisher, as JSON text. */
export function recordWriter(
	{ links, trackerUrl }: Pick<WriteListDeps, "links" | "trackerUrl">,
	publisher: Pick<Publisher, "publisherIdentity" | "cashbackEnabled">,
	by: ListRequest["by"],
): (brand: ListedBrand) => Promise<string> {
	const options = { by, seesFlatFees: publisher.cashbackEnabled, trackerUrl };
	return async (brand) => {
		const { brandId, domain, campaignId } = brand;
		const token = await links.mint({ publisher: publisher.publisherIdentity, advertiserId: brandId, domain, campaignId });
		return writeRecord(brand, token, options);
	};
}

/** Asks for a chunk when the reader wants one, and stops asking where it has gone. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
	return new ReadableStream({
		async pull(controller) {
			const { done, value } = await chunks.next();
			if (done) controller.close();
			else controller.enqueue(value);
		},
		async cancel() {
			await chunks.return(undefined);
		},
	});
}
