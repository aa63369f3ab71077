/** Finds what stands twice in a file, in few bytes an entry: a file of a quarter of a million brands is read in an isolate of 128 MB. */
import type { Fault } from "../../http/errors.ts";
import type { BrandEntry } from "./network-file.ts";

/** Where an entry stands in its list: with a campaign's place before it still a small integer, which takes no memory of its own. */
const MAX_PLACES = 2 ** 24;
/** From here on are places that are no list's, such as those of an undo. */
const OTHERS = 2 ** 23;

/** What must be known of all entries to check one against another. */
export class FileIndex {
	/** Platforms that campaigns name → the first place. */
	readonly platformsUsed = new Map<string, string>();
	/** By section: natural keys → the place of the first entry with it. */
	readonly #sections = new Map<string, { places: Places; seen: Map<string, number> }>();
	/** Hosts of brands (domains and aliases) → the place of the brand. */
	readonly #hosts = new Map<string, number>();
	/** Ids of campaigns → the place of the brand, and which of its campaigns it is. */
	readonly #campaigns = new Map<number, number>();
	readonly #brands = new Places();

	/**
	 * Notes a natural key; a fault where it stands twice.
	 * @param place of the entry, `products[3]`
	 * @param field the key within it, `.id`
	 */
	claimKey(section: string, key: string, place: string, field: string): Fault[] {
		let of = this.#sections.get(section);
		if (of === undefined) {
			of = { places: new Places(), seen: new Map() };
			this.#sections.set(section, of);
		}
		const first = of.seen.get(key);
		if (first !== undefined) return [{ path: place + field, message: `is the same as ${of.places.nameOf(first)}${field}` }];
		of.seen.set(key, of.places.numberOf(place));
		return [];
	}

	/** Faults of a brand that its own schema cannot see: hosts and campaign ids that stand elsewhere in the file. */
	claimBrand(brand: BrandEntry, place: string): Fault[] {
		const faults: Fault[] = [];
		const number = this.#brands.numberOf(place);
		const first = this.#hosts.get(brand.domain);
		const isAgain = first !== undefined && this.#brands.domainOf(first) === brand.domain;
		if (isAgain) faults.push({ path: `${place}.domain`, message: `is the same as ${this.#brands.nameOf(first)}.domain` });
		// Whose hosts they are is told by the domain: of one that stands twice they are no fault of their own.
		this.#brands.keepDomain(number, brand.domain);
		faults.push(...this.#claimHost(brand, brand.domain, number, `${place}.domain`));
		brand.aliases.forEach((alias, at) => {
			faults.push(...this.#claimHost(brand, alias, number, `${place}.aliases[${at}]`));
		});
		brand.campaigns.forEach(({ campaign_id: id, platform }, at) => {
			const own = `${place}.campaigns[${at}]`;
			const known = this.#campaigns.get(id);
			if (known !== undefined)
				faults.push({ path: `${own}.campaign_id`, message: `is the same as ${this.#campaignAt(known)}.campaign_id` });
			else this.#campaigns.set(id, at * MAX_PLACES + number);
			if (!this.platformsUsed.has(platform)) this.platformsUsed.set(platform, `${own}.platform`);
		});
		return faults;
	}

	#claimHost({ domain }: BrandEntry, host: string, number: number, path: string): Fault[] {
		const known = this.#hosts.get(host);
		if (known === undefined) this.#hosts.set(host, number);
		const owner = known === undefined ? domain : this.#brands.domainOf(known);
		return owner === domain ? [] : [{ path, message: `${host} is a host of ${owner} too` }];
	}

	#campaignAt(known: number): string {
		return `${this.#brands.nameOf(known % MAX_PLACES)}.campaigns[${Math.floor(known / MAX_PLACES)}]`;
	}
}

/** Places of entries as numbers: of a list's the index, of others one of their own. */
class Places {
	#list: string | null = null;
	readonly #others: string[] = [];
	readonly #domains: string[] = [];
	readonly #otherDomains: string[] = [];

	numberOf(place: string): number {
		const open = place.lastIndexOf("[");
		const index = place.endsWith("]") ? Number(place.slice(open + 1, -1)) : Number.NaN;
		this.#list ??= place.slice(0, Math.max(0, open));
		if (Number.isInteger(index) && index < OTHERS && `${this.#list}[${index}]` === place) return index;
		this.#others.push(place);
		return OTHERS + this.#others.length - 1;
	}

	nameOf(number: number): string {
		return number < OTHERS ? `${this.#list}[${number}]` : (this.#others[number - OTHERS] ?? "");
	}

	keepDomain(number: number, domain: string): void {
		if (number < OTHERS) this.#domains[number] = domain;
		else this.#otherDomains[number - OTHERS] = domain;
	}

	domainOf(number: number): string | undefined {
		return number < OTHERS ? this.#domains[number] : this.#otherDomains[number - OTHERS];
	}
}
