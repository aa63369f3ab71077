/** A client of a feed of changes, which keeps a copy and its last cursor, and is killed now and then. */
import { exports } from "cloudflare:workers";
import { expect } from "vitest";

export type Page<Entry> = { data: Entry[]; limit: number; next_cursor: string; more: boolean };

export function getChanges(path: string, key: string, query: Record<string, string | number> = {}): Promise<Response> {
	const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
	return exports.default.fetch(`https://base.example${path}?${search}`, { headers: { AccessKey: key } });
}

type Ask<Entry> = (query: { limit: number; after?: string }) => Promise<Page<Entry>>;

/** Asks the Worker. */
export function askChanges<Entry>(path: string, key: string): Ask<Entry> {
	return async (query) => {
		const response = await getChanges(path, key, query);
		expect([response.status, response.status === 200 ? "" : await response.text()]).toEqual([200, ""]);
		return response.json<Page<Entry>>();
	};
}

export class FeedClient<Entry> {
	readonly #ask: Ask<Entry>;
	readonly #apply: (copy: Map<string, Entry>, entry: Entry) => void;
	/** What it has stored, all at once. */
	#stored: { copy: ReadonlyMap<string, Entry>; cursor: string | null } = { copy: new Map(), cursor: null };

	constructor(ask: Ask<Entry>, apply: (copy: Map<string, Entry>, entry: Entry) => void) {
		this.#ask = ask;
		this.#apply = apply;
	}

	get copy(): ReadonlyMap<string, Entry> {
		return this.#stored.copy;
	}

	/**
	 * Reads pages, until it has all of them or is killed: then what it had not stored is lost.
	 * @param pages how many it reads at most
	 * @param kept  how many of them it stores
	 */
	async read(limit: number, pages = Number.POSITIVE_INFINITY, kept = pages): Promise<Page<Entry>[]> {
		const read: Page<Entry>[] = [];
		let { copy, cursor } = this.#stored;
		while (read.length < pages) {
			const page: Page<Entry> = await this.#ask({ limit, ...(cursor !== null && { after: cursor }) });
			const next = new Map(copy);
			for (const entry of page.data) this.#apply(next, entry);
			[copy, cursor] = [next, page.next_cursor];
			read.push(page);
			if (read.length <= kept) this.#stored = { copy, cursor };
			if (!page.more) return read;
		}
		return read;
	}
}
