/** Products for the benchmark: words by Zipf's law, as in catalogues; the same for a seed. */
import { Random } from "../../demo/random.ts";
import { Zipf } from "../catalogue/zipf.ts";

const WORDS = 30_000;
/** The few words that stand in nearly every text are left out: nobody searches for them. */
const SKIPPED = 8;
const BRANDS = 400;
const CATEGORIES = 60;
const SYLLABLES =
	"ba be bi bo ca co da de di do fa fe ga go la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se so ta te to va ve".split(" ");

export type BenchProduct = {
	id: string;
	domain: string;
	name: string;
	description: string;
	brand: string;
	category: string;
	url: string;
	image_url: string;
	currency: string;
	regular_price: string;
	final_price: string;
	availability: string;
};

/** Words of two to five syllables; each number has its own. */
function wordOf(number: number): string {
	let text = "";
	for (let left = number + SYLLABLES.length; left > 0; left = Math.floor(left / SYLLABLES.length))
		text += SYLLABLES[left % SYLLABLES.length];
	return text;
}

/** Makes products of the domains in turn. */
export class ProductGenerator {
	readonly #random = new Random(5);
	readonly #zipf = new Zipf(this.#random, WORDS);
	readonly #words = Array.from({ length: WORDS }, (_, number) => wordOf(number));
	readonly #domains: readonly string[];
	#made = 0;

	constructor(domains: readonly string[]) {
		this.#domains = domains;
	}

	#text(words: number): string {
		return Array.from({ length: words }, () => this.#words[this.#zipf.next()]).join(" ");
	}

	make(count: number): BenchProduct[] {
		return Array.from({ length: count }, () => {
			const number = this.#made++;
			const domain = this.#random.pick(this.#domains);
			const cents = this.#random.integer(500, 50_000);
			return {
				id: `SKU-${number}`,
				domain,
				name: this.#text(this.#random.integer(4, 9)),
				description: this.#text(this.#random.integer(12, 30)),
				brand: `Maker ${wordOf(this.#random.integer(0, BRANDS))}`,
				category: `Aisle ${wordOf(this.#random.integer(0, CATEGORIES))}`,
				url: `https://${domain}/p/${number}`,
				image_url: `https://cdn.${domain}/images/${number}.jpg`,
				currency: "USD",
				regular_price: (cents / 100).toFixed(2),
				final_price: ((cents * 0.9) / 100).toFixed(2),
				availability: this.#random.chance(0.92) ? "InStock" : "OutOfStock",
			};
		});
	}

	/** What people ask for: one to three words of a product's name, the last one in three times not finished. */
	searches(products: readonly BenchProduct[], count: number): string[] {
		const frequent = new Set(this.#words.slice(0, SKIPPED));
		const found: string[] = [];
		while (found.length < count) {
			const names = this.#random
				.pick(products)
				.name.split(" ")
				.filter((word) => !frequent.has(word));
			const words = this.#random.sample(names, 1, 3);
			const last = words.pop();
			if (last === undefined) continue;
			const typed = this.#random.chance(1 / 3) && last.length > 4 ? last.slice(0, -2) : last;
			found.push([...words, typed].join(" "));
		}
		return found;
	}
}
