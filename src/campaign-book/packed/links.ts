/**
 * Chunks of links: the templates of campaigns' links, which only a click asks for. A keyed chunk, whose keys are the domains of brands
 * (`d {domain}`). Behind one stand its campaigns in the order of their ids: count n; each id n, less that of the one before; flags; and
 * its templates, each as how many characters it shares with the one before (n) and the rest of it (t).
 */
import type { BookBrand, BookCampaign } from "../book.ts";
import { BookUnavailableError } from "../resident-shards.ts";
import type { BrandWire } from "../wire.ts";
import type { ByteReader, ByteWriter } from "./bytes.ts";
import { KeyedChunk, packKeyed } from "./keyed-chunk.ts";

/** "CBL2" */
const LINKS_MAGIC = 0x324c_4243;
const HAS_HOMEPAGE = 1;
const HAS_DEEPLINK = 2;

/**
 * The chunk of some entries: of those among them that are brands under their own domain.
 * @param entries as `packFacts` takes them
 */
export function packLinks(entries: ReadonlyMap<string, readonly BrandWire[]>): Uint8Array {
	const brands = new Map<string, BrandWire>();
	for (const [key, [brand]] of entries) if (brand !== undefined && key === `d ${brand.d}`) brands.set(key, brand);
	return packKeyed(
		LINKS_MAGIC,
		brands.keys(),
		(writer, key) => writeLinks(writer, brands.get(key)?.c ?? []),
		() => null,
	);
}

function writeLinks(writer: ByteWriter, campaigns: BrandWire["c"]): void {
	writer.number(campaigns.length);
	let before = 0;
	let last = "";
	for (const { i, h, l } of campaigns) {
		writer.number(i - before);
		before = i;
		writer.byte((h === undefined ? 0 : HAS_HOMEPAGE) | (l === undefined ? 0 : HAS_DEEPLINK));
		for (const template of [h, l]) {
			if (typeof template !== "string") continue;
			const shared = sharedLength(last, template);
			writer.number(shared);
			writer.text(template.slice(shared));
			last = template;
		}
	}
}

/** Characters with which both begin, no pair of surrogates cut in two. */
function sharedLength(left: string, right: string): number {
	let length = 0;
	while (length < left.length && left.charCodeAt(length) === right.charCodeAt(length)) length++;
	return length > 0 && (left.charCodeAt(length - 1) & 0xfc00) === 0xd800 ? length - 1 : length;
}

export class LinksChunk {
	readonly version: string;
	readonly #chunk: KeyedChunk<null>;

	/** @throws BookUnavailableError where the bytes are missing, cut short, or of a format this code does not know */
	constructor(version: string, buffer: ArrayBuffer | null) {
		this.version = version;
		this.#chunk = new KeyedChunk(LINKS_MAGIC, buffer);
	}

	get size(): number {
		return this.#chunk.bytes.length;
	}

	/**
	 * A brand with its links in it.
	 * @param key `d {domain}` @param hash `hashOf(key)`
	 * @throws BookUnavailableError where the chunk has not the links that the brand has: it is of another version of the book
	 */
	link(key: string, hash: number, brand: BookBrand): BookBrand {
		const reader = this.#chunk.find(key, hash);
		const links = reader === null ? new Map<number, Links>() : readLinks(reader);
		return { ...brand, campaigns: brand.campaigns.map((campaign) => withLinks(campaign, links.get(campaign.campaignId))) };
	}
}

type Links = { homepageUrl: string | null; deeplinkUrl: string | null };

function readLinks(reader: ByteReader): Map<number, Links> {
	const links = new Map<number, Links>();
	let campaignId = 0;
	let last = "";
	const readTemplate = () => {
		const shared = reader.number();
		last = last.slice(0, shared) + reader.text();
		return last;
	};
	for (let left = reader.number(); left > 0; left--) {
		campaignId += reader.number();
		const flags = reader.byte();
		const homepageUrl = (flags & HAS_HOMEPAGE) === 0 ? null : readTemplate();
		const deeplinkUrl = (flags & HAS_DEEPLINK) === 0 ? null : readTemplate();
		links.set(campaignId, { homepageUrl, deeplinkUrl });
	}
	return links;
}

function withLinks(campaign: BookCampaign, links: Links | undefined): BookCampaign {
	const { homepageUrl = null, deeplinkUrl = null } = links ?? {};
	const isWhole = campaign.hasHomepage === (homepageUrl !== null) && (deeplinkUrl !== null || !campaign.hasDeeplink);
	if (!isWhole) throw new BookUnavailableError("the links of a campaign are of another version of the campaign book");
	return { ...campaign, homepageUrl, deeplinkUrl };
}
