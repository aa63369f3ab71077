import type { LinkType } from "../lib/enums.ts";
import { type Cell, OTHER_SOURCES } from "./cell.ts";
import { emptySums, type FactorEvidence, type FactorSums, readFactor } from "./factor.ts";
import { PairMap } from "./pair-map.ts";
import { addReversals, noReversals, type ReversalSums, reversalLevels } from "./reversals.ts";
import type { Kappa } from "./settings.ts";

/** What the network's traffic is worth, whatever the campaign: publishers, their sources, kinds of links. 1 where a key is missing. */
export type SharedFactors = {
	publishers: ReadonlyMap<string, FactorEvidence>;
	/** By `pairKey` of publisher and source. */
	sources: ReadonlyMap<string, SourceEvidence>;
	links: ReadonlyMap<LinkType, FactorEvidence>;
};

/** The standing is absent in rows of earlier versions. */
export type SourceEvidence = FactorEvidence & Partial<SourceStanding>;

/** What holds of a source beside its factor. */
export type SourceStanding = {
	/** How many times as much is taken back of its conversions as its publisher's curves say, see `reversalLevels`. */
	reversalLevel: number;
	/** What each of its conversions counts as in its publisher's factors, see `partInPublisher`. */
	publisherPart: number;
};

export const USUAL_STANDING: Readonly<SourceStanding> = { reversalLevel: 1, publisherPart: 1 };

export const NO_SHARED_FACTORS: SharedFactors = { publishers: new Map(), sources: new Map(), links: new Map() };

const SEPARATOR = "\u0000";

/** Two names as one key. */
export function pairKey(first: string, second: string): string {
	return first + SEPARATOR + second;
}

/** The names of such a key, of which the first holds no such character. */
export function namesOf(key: string): [first: string, second: string] {
	const end = key.indexOf(SEPARATOR);
	return [key.slice(0, end), key.slice(end + 1)];
}

/** What traffic multiplies every campaign's price by. */
export function sharedFactor(shared: SharedFactors, { publisher, source, link }: Cell): number {
	const ofSource = findSource(shared, publisher, source)?.factor ?? 1;
	return (shared.publishers.get(publisher)?.factor ?? 1) * ofSource * (shared.links.get(link)?.factor ?? 1);
}

/** How a cell's source stands, as it was learned. */
export function sharedStanding(shared: SharedFactors, { publisher, source }: Cell): SourceStanding {
	const { reversalLevel = 1, publisherPart = 1 } = findSource(shared, publisher, source) ?? {};
	return { reversalLevel, publisherPart };
}

function findSource({ sources }: SharedFactors, publisher: string, source: string): SourceEvidence | undefined {
	return sources.get(pairKey(publisher, source)) ?? sources.get(pairKey(publisher, OTHER_SOURCES));
}

/** One kind of traffic: its factor, and what all campaigns together say of it. Few, however many campaigns there are. */
export type TrafficKind = {
	publisher: string;
	sourceKey: string;
	link: LinkType;
	factor: number;
	sums: FactorSums;
	/** What campaigns have said of what is taken back, once a night. */
	reversals: ReversalSums;
	/** Its source's, whatever the link. */
	standing: Readonly<SourceStanding>;
};

export class Traffic {
	readonly #kinds = new Map<string, TrafficKind>();
	/** The same by publisher and source, as they were asked for. */
	readonly #asked: Readonly<Record<LinkType, PairMap<TrafficKind>>> = { homepage: new PairMap(), deeplink: new PairMap() };
	readonly #followed: ReadonlySet<string> | null;

	/**
	 * @param kinds    of a night that was cut off, as `kinds` gave them
	 * @param followed sources that are learned of singly, by `pairKey` of publisher and source: the others of a publisher are one; null: all
	 */
	constructor(kinds: Iterable<TrafficKind> = [], followed: ReadonlySet<string> | null = null) {
		this.#followed = followed;
		for (const kind of kinds) this.#kinds.set(pairKey(kind.sourceKey, kind.link), kind);
	}

	/** What a night that is cut off goes on with. */
	get kinds(): Iterable<TrafficKind> {
		return this.#kinds.values();
	}

	/** The kind that a cell's clicks are of. */
	kindOf({ publisher, source, link }: Cell): TrafficKind {
		const known = this.#asked[link].get(publisher, source);
		if (known !== undefined) return known;
		const kind = this.#placeKind(publisher, source, link);
		this.#asked[link].set(publisher, source, kind);
		return kind;
	}

	#placeKind(publisher: string, source: string, link: LinkType): TrafficKind {
		const sourceKey = this.#sourceKey(publisher, source);
		const key = pairKey(sourceKey, link);
		let kind = this.#kinds.get(key);
		if (kind === undefined) {
			kind = { publisher, sourceKey, link, factor: 1, sums: emptySums(), reversals: noReversals(), standing: USUAL_STANDING };
			this.#kinds.set(key, kind);
		}
		return kind;
	}

	#sourceKey(publisher: string, source: string): string {
		const own = pairKey(publisher, source);
		return this.#followed === null || this.#followed.has(own) ? own : pairKey(publisher, OTHER_SOURCES);
	}

	/** That of a cell's source: the usual one before any is known. */
	standingOf({ publisher, source, link }: Cell): Readonly<SourceStanding> {
		const kind = this.#asked[link].get(publisher, source) ?? this.#kinds.get(pairKey(this.#sourceKey(publisher, source), link));
		return kind?.standing ?? USUAL_STANDING;
	}

	/** Forgets what campaigns have said, before they say it again: all but what is taken back. */
	clear(): void {
		for (const kind of this.#kinds.values()) kind.sums = emptySums();
	}

	/** How sources stand by what campaigns have said: in force from here on. */
	stand(kappa: Kappa): ReadonlyMap<string, SourceStanding> {
		const standings = standingsOf([...this.#kinds.values()], kappa.source);
		for (const kind of this.#kinds.values()) kind.standing = standings.get(kind.sourceKey) ?? USUAL_STANDING;
		return standings;
	}

	/**
	 * The factors of publishers, their sources and kinds of links, in two passes over the levels: in force from here on.
	 * @param isLast before the last round, campaigns are left what most sources have in common: or one that is unlike the others would be
	 * taken for the campaigns, and the others for unlike them
	 */
	fit(kappa: Kappa, isLast = true): SharedFactors {
		const kinds = [...this.#kinds.values()];
		const standings = this.stand(kappa);
		let publishers = new Map<string, FactorEvidence>();
		let sources = new Map<string, SourceEvidence>();
		let links = new Map<LinkType, FactorEvidence>();
		for (let pass = 0; pass < PASSES; pass++) {
			publishers = fitLevel(
				kinds,
				(kind) => kind.publisher,
				(kind) => at(sources, kind.sourceKey) * at(links, kind.link),
				kappa.publisher,
				({ standing }) => standing.publisherPart,
			);
			sources = fitLevel(
				kinds,
				(kind) => kind.sourceKey,
				(kind) => at(publishers, kind.publisher) * at(links, kind.link),
				kappa.source,
			);
			links = fitLevel(
				kinds,
				(kind) => kind.link,
				(kind) => at(publishers, kind.publisher) * at(sources, kind.sourceKey),
				kappa.link,
			);
		}
		for (const [key, evidence] of sources) sources.set(key, { ...evidence, ...standings.get(key) });
		const common = isLast ? 1 : commonFactor(publishers, sources);
		for (const kind of kinds) kind.factor = (at(publishers, kind.publisher) * at(sources, kind.sourceKey) * at(links, kind.link)) / common;
		return { publishers, sources, links };
	}
}

/**
 * What most sources have in common: the middle of their factors. Each weighs by what was expected of it or came, whichever is less, so that
 * neither clicks that never buy move it, nor sales that are made up; and by the logarithm of that, so that no single one is most of all.
 */
function commonFactor(publishers: ReadonlyMap<string, FactorEvidence>, sources: ReadonlyMap<string, FactorEvidence>): number {
	const each = [...sources].map(([key, { factor, expected, observed }]) => ({
		factor: factor * at(publishers, namesOf(key)[0]),
		weight: Math.log1p(Math.max(0, Math.min(expected, observed))),
	}));
	let half = 0;
	for (const { weight } of each) half += weight / 2;
	for (const { factor, weight } of each.sort((a, b) => a.factor - b.factor)) {
		half -= weight;
		if (half < 0) return factor;
	}
	return 1;
}

function standingsOf(kinds: readonly TrafficKind[], kappa: number): Map<string, SourceStanding> {
	const publishers = new Map<string, Map<string, ReversalSums>>();
	const expected = new Map<string, number>();
	for (const { publisher, sourceKey, reversals, sums } of kinds) {
		const sources = publishers.get(publisher) ?? new Map<string, ReversalSums>();
		publishers.set(publisher, sources);
		const known = sources.get(sourceKey) ?? noReversals();
		sources.set(sourceKey, known);
		addReversals(known, reversals);
		expected.set(sourceKey, (expected.get(sourceKey) ?? 0) + sums.expected);
	}
	const standings = new Map<string, SourceStanding>();
	for (const sources of publishers.values()) {
		for (const [key, reversalLevel] of reversalLevels(sources)) {
			standings.set(key, { reversalLevel, publisherPart: partInPublisher(expected.get(key) ?? 0, kappa) });
		}
	}
	return standings;
}

/**
 * What each conversion of a source counts as in its publisher's factors: the more of them, the less, so that no single source tells what the
 * others of its publisher are worth. Its own factor has the rest.
 */
function partInPublisher(expected: number, kappa: number): number {
	const most = MOST_IN_PUBLISHER * kappa;
	return most / (most + expected);
}

/** What a source counts as in its publisher's factors at the most, as many times what a number that it starts from counts as. */
const MOST_IN_PUBLISHER = 2;

const PASSES = 2;

function at<Key>(level: ReadonlyMap<Key, FactorEvidence>, key: Key): number {
	return level.get(key)?.factor ?? 1;
}

function fitLevel<Key>(
	kinds: readonly TrafficKind[],
	keyOf: (kind: TrafficKind) => Key,
	others: (kind: TrafficKind) => number,
	kappa: number,
	partOf: (kind: TrafficKind) => number = () => 1,
): Map<Key, FactorEvidence> {
	const levels = new Map<Key, FactorSums>();
	for (const kind of kinds) {
		const key = keyOf(kind);
		let sums = levels.get(key);
		if (sums === undefined) {
			sums = emptySums();
			levels.set(key, sums);
		}
		const part = partOf(kind);
		const factor = others(kind);
		sums.expected += kind.sums.expected * factor * part;
		sums.squared += kind.sums.squared * factor * part;
		sums.observed += kind.sums.observed * part;
		sums.expectedMicros += kind.sums.expectedMicros * factor;
		sums.earnedMicros += kind.sums.earnedMicros;
		sums.clicks += kind.sums.clicks;
		sums.ripe += kind.sums.ripe;
	}
	return new Map([...levels].map(([key, sums]) => [key, readFactor(sums, kappa)]));
}
