/**
 * Chunks of publishers: text, a first line, then one line a name, `{key}\t{JSON of NameWire}`, sorted by key. Keys are `i {identity}` and
 * `p {publisher id}`, former ones among them; each has a copy of its publisher, so that a cold isolate reads one chunk for a request.
 */
import { hashOf } from "../../lib/hash.ts";
import type { TrafficPolicy } from "../../lib/traffic-rules.ts";
import type { BookPublisher } from "../book.ts";
import { decodePublisher, findEntry } from "../format.ts";
import { BookUnavailableError } from "../resident-shards.ts";
import type { PublisherName } from "../snapshot.ts";
import type { PublisherWire } from "../wire.ts";
import { PUBLISHERS_HEADER } from "./head.ts";

/** Bytes of text that the number of chunks aims at. */
const TARGET_BYTES = 48 * 1024;
/** A text so short stands in the head itself: a cold isolate has one chunk less to read. */
const MAX_BYTES_IN_HEAD = 32 * 1024;
/** As many chunks as a publish may well write beside those of campaigns. */
const MAX_BITS = 8;

type NameWire = {
	p: PublisherWire;
	/** From when requests may no longer use the name, Unix milliseconds; absent: they may. */
	u?: number;
};

export type PublisherChunks = {
	bits: number;
	/** By index; a chunk without publishers is empty. */
	texts: string[];
	/** Whether the only one stands in the head. */
	inHead: boolean;
};

/** The chunks of all publishers. */
export function writePublishers(publishers: readonly PublisherWire[]): PublisherChunks {
	const lines = publishers.flatMap(linesOf);
	const bytes = lines.reduce((sum, { line }) => sum + line.length, PUBLISHERS_HEADER.length);
	const inHead = bytes <= MAX_BYTES_IN_HEAD;
	const bits = inHead ? 0 : Math.min(MAX_BITS, Math.max(0, Math.ceil(Math.log2(bytes / TARGET_BYTES))));
	const chunks = Array.from({ length: 2 ** bits }, (): string[] => []);
	for (const { key, line } of lines) chunks[chunkOf(key, bits)]?.push(line);
	const texts = chunks.map((chunk) => (chunk.length === 0 && !inHead ? "" : PUBLISHERS_HEADER + chunk.sort().join("")));
	return { bits, texts, inHead };
}

function linesOf({ former = [], ...publisher }: PublisherWire): { key: string; line: string }[] {
	const write = (key: string, name: NameWire) => ({ key, line: `${key}\t${JSON.stringify(name)}\n` });
	const own = [keyOf("identity", publisher.identity), ...(publisher.pubi === undefined ? [] : [keyOf("pubi", publisher.pubi)])];
	return [
		...own.map((key) => write(key, { p: publisher })),
		...former.map(({ n, v, u }) => write(keyOf(n, v), { p: publisher, u })).filter(({ key }) => !own.includes(key)),
	];
}

function keyOf(name: PublisherName, value: string): string {
	return name === "pubi" ? `p ${value}` : `i ${value}`;
}

function chunkOf(key: string, bits: number): number {
	return bits === 0 ? 0 : hashOf(key) >>> (32 - bits);
}

/** The chunk that a name stands in. */
export function publisherChunkOf(name: PublisherName, value: string, bits: number): number {
	// Most books have one, and then no key is made for it.
	return bits === 0 ? 0 : chunkOf(keyOf(name, value), bits);
}

type Named = { publisher: BookPublisher; wire: PublisherWire; until: number | null };

/** A chunk of publishers in memory; a publisher is parsed when it is first asked for. */
export class PublishersChunk {
	readonly version: string;
	readonly #text: string;
	/** By the rules of {@link #network}. */
	readonly #parsed = new Map<string, Named>();
	#network: TrafficPolicy | null = null;

	/** @throws BookUnavailableError where the text is cut short, or of a format this code does not know */
	constructor(version: string, text: string) {
		if (!text.startsWith(PUBLISHERS_HEADER) || !text.endsWith("\n"))
			throw new BookUnavailableError("a chunk of publishers has an unknown format");
		this.version = version;
		this.#text = text;
	}

	get size(): number {
		return this.#text.length;
	}

	/**
	 * The publisher of a name that is valid now; for clicks (`identity`) it is for good.
	 * @param network the network's own rules, which may change while the chunk stays
	 */
	find(name: PublisherName, value: string, now: number, network: TrafficPolicy): BookPublisher | undefined {
		if (network !== this.#network) {
			this.#network = network;
			this.#parsed.clear();
		}
		const key = keyOf(name, value);
		const found = this.#parsed.get(key) ?? this.#parse(key, value, network);
		if (found === null) return undefined;
		if (name === "identity") return found.publisher;
		const isEnabled = (name === "rtb" ? found.wire.rtb : found.wire.pubi) !== undefined;
		return isEnabled && (found.until === null || now < found.until) ? found.publisher : undefined;
	}

	#parse(key: string, value: string, network: TrafficPolicy): Named | null {
		const json = findEntry(this.#text, key);
		if (json === null) return null;
		const { p: wire, u: until = null } = JSON.parse(json) as NameWire;
		const publisher = decodePublisher(wire, network);
		// A bid made under a former identity is that identity's: its seat and its token name what the path named.
		const named = { publisher: key.startsWith("i ") ? { ...publisher, identity: value } : publisher, wire, until };
		this.#parsed.set(key, named);
		return named;
	}
}
