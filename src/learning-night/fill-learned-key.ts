/** What `book:learned` holds, pure: what always goes in, and of the rest as much as has room. */
import { BOOK_FORMAT, HELD_SCALE } from "../campaign-book/format.ts";
import type { LearnedWire, PublisherFactorsWire } from "../campaign-book/learned.ts";
import { OTHER_SOURCES } from "../learning/cell.ts";
import { bytesOf } from "../lib/split-by-bytes.ts";

/** Isolates read it with every manifest. */
const MAX_BYTES = 64 * 1024;
/** Of the JSON around what is listed, and of what holds for other sources. */
const SPARE_BYTES = 4_096;

type FactorLevel = "campaign_publisher" | "publisher" | "source" | "link";
export type Factor = { level: FactorLevel; campaignId: number; publisherId: string; name: string; factor: number };

/** By publisher, of those whose places are all taken: the sources that are followed singly. */
export type Followed = ReadonlyMap<string, readonly string[]>;

/** @param clicks by `keyOf`, where not all has room; null: all has */
export function fillLearnedKey(
	factors: readonly Factor[],
	clicks: ReadonlyMap<string, number> | null,
	mostHeld: number,
	followed: Followed = new Map(),
): LearnedWire {
	const isAlways = ({ level }: Factor) => level === "link" || level === "publisher";
	const moved = (factor: Factor) => Math.abs(Math.log(factor.factor)) * (clicks?.get(keyOf(factor)) ?? 0);
	const rest = factors.filter((factor) => !isAlways(factor));
	if (clicks !== null) rest.sort((a, b) => moved(b) - moved(a));
	let left = MAX_BYTES - SPARE_BYTES;
	const wire: LearnedWire = { format: BOOK_FORMAT, ...(mostHeld > 1 && { h: Math.ceil(mostHeld * HELD_SCALE) }) };
	for (const factor of [...factors.filter(isAlways), ...(clicks === null ? rest : shareFirst(rest))]) {
		left -= bytesOfFactor(factor);
		if (left < 0) break;
		add(wire, factor);
	}
	for (const [publisherId, sources] of followed) {
		const own = wire.publishers?.[publisherId];
		const others = own?.s?.[OTHER_SOURCES];
		// Where not all that are followed have room, one that has none may be bid less than it earned, and never more.
		if (own !== undefined && others !== undefined && (others < 1 || sources.every((source) => own.s?.[source] !== undefined)))
			own.o = others;
	}
	return wire;
}

/** In the same order, but that half of the room is shared alike: what of each publisher comes first goes before the rest of all others. */
function shareFirst(rest: readonly Factor[]): Factor[] {
	const ofPublishers = new Map(rest.map(({ publisherId }) => [publisherId, 0]));
	const share = (MAX_BYTES - SPARE_BYTES) / 2 / ofPublishers.size;
	const [first, later]: [Factor[], Factor[]] = [[], []];
	for (const factor of rest) {
		const bytes = (ofPublishers.get(factor.publisherId) ?? 0) + bytesOfFactor(factor);
		ofPublishers.set(factor.publisherId, bytes);
		if (bytes <= share) first.push(factor);
		else later.push(factor);
	}
	return [...first, ...later];
}

function add(wire: LearnedWire, { level, campaignId, publisherId, name, factor }: Factor): void {
	if (level === "link") {
		wire.links = Object.assign(wire.links ?? {}, { [name]: factor });
		return;
	}
	wire.publishers ??= {};
	const own: PublisherFactorsWire = wire.publishers[publisherId] ?? {};
	wire.publishers[publisherId] = own;
	if (level === "publisher") own.f = factor;
	else if (level === "source") own.s = Object.assign(own.s ?? {}, { [name]: factor });
	else own.c = Object.assign(own.c ?? {}, { [String(campaignId)]: factor });
}

/** Whether all of them have room in the key. */
export function haveRoom(factors: readonly Factor[]): boolean {
	return factors.reduce((sum, factor) => sum + bytesOfFactor(factor), 0) <= MAX_BYTES - SPARE_BYTES;
}

/** At the most: as if each were the first of its publisher. */
function bytesOfFactor({ campaignId, publisherId, name }: Factor): number {
	return bytesOf(JSON.stringify([publisherId, name, campaignId])) + MEMBER_BYTES;
}

const MEMBER_BYTES = 24;

export function keyOf({ level, campaignId, publisherId, name }: Omit<Factor, "factor">): string {
	return JSON.stringify([level, campaignId, publisherId, name]);
}
