/** What `book:learned` holds, pure: what always goes in, and of the rest as much as has room. */
import { BOOK_FORMAT } from "../campaign-book/format.ts";
import type { LearnedWire, PublisherFactorsWire } from "../campaign-book/learned.ts";
import { OTHER_SOURCES } from "../learning/cell.ts";
import type { FactorLevel } from "../lib/enums.ts";
import { ownOf } from "../lib/json.ts";
import { HELD_SCALE } from "../lib/money.ts";
import { bytesOf } from "../lib/split-by-bytes.ts";

/** Isolates read it with every manifest. */
const MAX_BYTES = 64 * 1024;
/** Of the JSON around what is listed, and of what holds for other sources. */
const SPARE_BYTES = 4_096;
const ROOM_BYTES = MAX_BYTES - SPARE_BYTES;

/** The book has prices themselves. */
type KeyLevel = Exclude<FactorLevel, "price">;
export type Factor = { level: KeyLevel; campaignId: number; publisherId: string; name: string; factor: number };

/** By publisher, of those whose places are all taken: the sources that are followed singly. */
export type Followed = ReadonlyMap<string, readonly string[]>;

/** What a factor moves the more of, the more it matters. */
export type WeighedFactor = Factor & { clicks: number };

/** Of factors in the order of their importance, as many as have room. @param mostHeld of what campaigns bid above their prices, the most */
export function fillLearnedKey(factors: readonly Factor[], mostHeld: number): LearnedWire {
	let left = ROOM_BYTES;
	const wire: LearnedWire = { format: BOOK_FORMAT, ...(mostHeld > 1 && { h: Math.ceil(mostHeld * HELD_SCALE) }) };
	for (const factor of factors) {
		left -= bytesOfFactor(factor);
		if (left < 0) break;
		add(wire, factor);
	}
	return wire;
}

/** Says what holds for the other sources of publishers whose places are all taken. @param followed those that are followed singly */
export function addOthers(wire: LearnedWire, followed: Followed): void {
	for (const [publisherId, sources] of followed) {
		const own = ownOf(wire.publishers ?? {}, publisherId);
		const others = own?.s?.[OTHER_SOURCES];
		// Where not all that are followed have room, one that has none may be bid less than it earned, and never more.
		if (own !== undefined && others !== undefined && (others < 1 || sources.every((source) => own.s?.[source] !== undefined)))
			own.o = others;
	}
}

const isAlways = ({ level }: Factor) => level === "link" || level === "publisher";

/** Looks factors through, however many: whether all have room, and then which they are. */
export class FactorCount {
	#bytes = 0;
	#all: Factor[] = [];
	readonly #publishers = new Set<string>();

	add(factor: Factor): void {
		this.#bytes += bytesOfFactor(factor);
		if (!isAlways(factor)) this.#publishers.add(factor.publisherId);
		if (this.#bytes <= ROOM_BYTES) this.#all.push(factor);
		else this.#all = [];
	}

	/** Those of kinds of links and of publishers first; null where not all have room. */
	get all(): Factor[] | null {
		if (this.#bytes > ROOM_BYTES) return null;
		return [...this.#all.filter(isAlways), ...this.#all.filter((factor) => !isAlways(factor))];
	}

	/** Publishers that have factors of sources or campaigns. */
	get publishers(): number {
		return this.#publishers.size;
	}
}

/** Factors that are kept before those without a chance are let go of. */
const MAX_KEPT = 10_000;

/**
 * Of more factors than have room, the ones to begin with: of kinds of links and publishers, then what moves the most money, half of the room
 * shared alike. Of all that it is shown it keeps no more than may have room.
 */
export class FactorChoice {
	readonly #share: number;
	readonly #always: Factor[] = [];
	#bytesOfAlways = 0;
	#rest: Moving[] = [];
	#mostKept = MAX_KEPT;
	#seen = 0;

	/** @param publishers among whom that half is shared */
	constructor(publishers: number) {
		this.#share = ROOM_BYTES / 2 / publishers;
	}

	add({ clicks, ...factor }: WeighedFactor): void {
		if (isAlways(factor)) {
			// One more than there is room for ends it.
			if (this.#bytesOfAlways <= ROOM_BYTES) this.#always.push(factor);
			this.#bytesOfAlways += bytesOfFactor(factor);
			return;
		}
		const moved = Math.abs(Math.log(Math.max(factor.factor, LEAST_FACTOR))) * clicks;
		this.#rest.push({ factor, bytes: bytesOfFactor(factor), moved, place: this.#seen++ });
		if (this.#rest.length < this.#mostKept) return;
		const [first, later] = this.#sort();
		this.#rest = [...first, ...later];
		this.#mostKept = this.#rest.length + MAX_KEPT;
	}

	/** In the order in which they have room. */
	get chosen(): Factor[] {
		const [first, later] = this.#sort();
		return [...this.#always, ...[...first, ...later].map(({ factor }) => factor)];
	}

	/** What of each publisher comes first, as far as its share goes; and what comes later, as far as there may be room for it. */
	#sort(): [first: Moving[], later: Moving[]] {
		const ofPublishers = new Map<string, number>();
		const [first, later]: [Moving[], Moving[]] = [[], []];
		let bytesLater = 0;
		// Of equals the one that came first: a list that is sorted again still has its parts in the order of their coming.
		for (const moving of this.#rest.toSorted((a, b) => b.moved - a.moved || a.place - b.place)) {
			const { factor, bytes } = moving;
			const before = ofPublishers.get(factor.publisherId) ?? 0;
			ofPublishers.set(factor.publisherId, before + bytes);
			if (before + bytes <= this.#share) {
				first.push(moving);
				continue;
			}
			// The one that ends a publisher's share is kept: it ends it for whatever is shown later, too.
			if (bytesLater <= ROOM_BYTES || before <= this.#share) later.push(moving);
			bytesLater += bytes;
		}
		return [first, later];
	}
}

/** A factor that may have room. `place`: how many came before it. */
type Moving = { factor: Factor; bytes: number; moved: number; place: number };

/** Those that are less are told as 0. */
const LEAST_FACTOR = 1e-4;

function add(wire: LearnedWire, { level, campaignId, publisherId, name, factor }: Factor): void {
	if (level === "link") {
		wire.links = Object.assign(wire.links ?? {}, { [name]: factor });
		return;
	}
	wire.publishers ??= {};
	const known = ownOf(wire.publishers, publisherId);
	const own: PublisherFactorsWire = known ?? {};
	// No assignment, which would be that of a prototype to what is called so.
	if (known === undefined) Object.defineProperty(wire.publishers, publisherId, { value: own, enumerable: true });
	if (level === "publisher") own.f = factor;
	else if (level === "source") own.s = Object.assign(own.s ?? {}, { [name]: factor });
	else own.c = Object.assign(own.c ?? {}, { [String(campaignId)]: factor });
}

/** At the most: as if each were the first of its publisher. */
function bytesOfFactor({ campaignId, publisherId, name }: Factor): number {
	return bytesOf(JSON.stringify([publisherId, name, campaignId])) + MEMBER_BYTES;
}

const MEMBER_BYTES = 24;
