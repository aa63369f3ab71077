/** One version of the book as an isolate sees it, and its publishers. */
import { DEFAULT_POLICY, layPolicies, type TrafficPolicy } from "../lib/traffic-rules.ts";
import type { BookPublisher } from "./book.ts";
import { BOOK_FORMAT, decodePublisher, type Manifest } from "./format.ts";

/**
 * What names a publisher: `rtb` in the path of OpenRTB, `pubi` of the Serving Engine, `identity` in a click token. The first two find a
 * publisher where the endpoint is enabled for it, by a former name until its overlap ends; the third always.
 */
export type PublisherName = "rtb" | "pubi" | "identity";

type PublisherFinder = {
	/** A promise where the publisher is not in memory. */
	find(name: PublisherName, value: string, now: number): BookPublisher | undefined | Promise<BookPublisher | undefined>;
};

export type Opened<Format, Contents> = {
	readonly format: Format;
	readonly manifest: Contents;
	readonly publishers: PublisherFinder;
	/** The network's rules on which clicks are paid. */
	readonly traffic: TrafficPolicy;
};

/** A version of the book of format 1, whose manifest has all publishers. */
export type ManifestSnapshot = Opened<typeof BOOK_FORMAT, Manifest>;

export function openManifest(manifest: Manifest): ManifestSnapshot {
	const traffic = layPolicies(DEFAULT_POLICY, manifest.traffic ?? null);
	return { format: BOOK_FORMAT, manifest, publishers: new ListedPublishers(manifest, traffic), traffic };
}

class ListedPublishers implements PublisherFinder {
	readonly #present: Record<PublisherName, Map<string, BookPublisher>> = { rtb: new Map(), pubi: new Map(), identity: new Map() };
	/** Names that a rotation replaced: `pubi {value}` and `rtb {value}`. */
	readonly #former = new Map<string, { publisher: BookPublisher; until: number }>();

	constructor({ publishers }: Manifest, traffic: TrafficPolicy) {
		const { rtb, pubi, identity } = this.#present;
		for (const wire of publishers) {
			const publisher = decodePublisher(wire, traffic);
			identity.set(publisher.identity, publisher);
			if (wire.pubi !== undefined) pubi.set(wire.pubi, publisher);
			if (wire.rtb !== undefined) rtb.set(wire.rtb, publisher);
			for (const { n, v, u } of wire.former ?? []) {
				// A bid made under a former identity is that identity's: its seat and its token name what the path named.
				const named = n === "identity" ? { ...publisher, identity: v } : publisher;
				if (n === "identity") identity.set(v, named);
				if (n === "identity" && wire.rtb !== undefined) this.#former.set(`rtb ${v}`, { publisher: named, until: u });
				if (n === "pubi" && wire.pubi !== undefined) this.#former.set(`pubi ${v}`, { publisher: named, until: u });
			}
		}
	}

	find(name: PublisherName, value: string, now: number): BookPublisher | undefined {
		const present = this.#present[name].get(value);
		if (present !== undefined) return present;
		const former = this.#former.get(`${name} ${value}`);
		return former !== undefined && now < former.until ? former.publisher : undefined;
	}
}
