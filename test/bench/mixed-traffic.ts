/**
 * A day of one publisher's traffic with known truth: who makes each click, and what it is worth. Seeded, so that it is the same day on
 * every machine. What people do is modelled with what speaks against them, too: a decision that costs them nothing here would prove
 * nothing.
 *
 * People (40,000 visits; brands by Zipf's law among 300; half of them by link, half on a bid; more in the evening):
 * - `home`: households of one to four devices behind one IPv4 address.
 * - `phone`: 70 % have an IPv6 /64 of their own; 30 % share the carrier's IPv4 addresses, some 250 people an address, and most of them
 *   the same two browsers. Between bid and click 3 % change network.
 * - `office`: 200 people behind one address, 70 % of them with the company's browser, by day.
 * - Of all of them: 3 % click the same brand again within some minutes, 1 % of clicks are doubled by impatience; 0.4 % come through a
 *   VPN in a hosting network, 0.4 % are abroad, 2 % of countries are unknown, and 4 % of browsers send no fetch metadata.
 *
 * What nobody should pay for:
 * - `prefetcher`: an SSP's server fetches each URL before the person clicks it; half of them say so, the others name no browser or an
 *   HTTP library. And browsers that prefetch with `Sec-Purpose`.
 * - `link_checker`: crawlers with honest names, HEAD requests, monitors without a name; one in ten is a mail gateway in a cloud that is
 *   on no list and calls itself a browser.
 * - `stuffing`: pages that load links as images and frames in people's own browsers, of which 4 % send no fetch metadata.
 * - `farm`: boards of 60 phones behind one line, each phone a click every 20 seconds over 25 brands, and servers in hosting networks with
 *   the names of browsers, 50 addresses a farm.
 * - `replayer`: one bid's URL called again, from other addresses.
 * - `hoarder`: bids collected by day and called hours later, or at once by one program.
 * - `proxied_farm`: a farm behind residential proxies, a new address of a household for each click, 30 % of them abroad. No rule that is
 *   on by default can tell its clicks from people's.
 */
import { Random } from "../../scripts/demo/random.ts";

type PersonKind = "home" | "phone" | "office";
export const WORTHLESS = ["prefetcher", "link_checker", "stuffing", "farm", "replayer", "hoarder", "proxied_farm"] as const;
export type Actor = PersonKind | (typeof WORTHLESS)[number];

export type TrafficClick = {
	actor: Actor;
	/** `visit`: a person's. `again`: the same person on the way to the same brand once more within the hour. */
	worth: "visit" | "again" | "nothing";
	at: number;
	method: "GET" | "HEAD";
	address: string;
	userAgent: string | null;
	headers: Readonly<Record<string, string>>;
	/** Undefined where Cloudflare does not know it. */
	asn: number | undefined;
	brandId: number;
	/** Of a click on a bid: its auction, when it was made, and the device it was asked for. */
	bid: { auction: string; at: number; address: string; userAgent: string } | null;
};

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BRANDS = 300;
const VISITS = 40_000;

const SAFARI =
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
const ANDROID = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36";
const CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";
const PHONES: Readonly<Record<string, number>> = {
	[SAFARI]: 45,
	[ANDROID]: 35,
	...variants("Mobile/15E148 [FBAN/FBIOS;FBAV/48", 8),
	...variants("SamsungBrowser/2", 6),
	...variants("GSA/34", 6),
};
const DESKTOPS: Readonly<Record<string, number>> = {
	[CHROME]: 45,
	...variants("Edg/13", 15),
	...variants("Firefox/12", 15),
	...variants("Macintosh Version/18.", 15),
};

/** Ten versions of a browser that is not so common. */
function variants(name: string, weight: number): Record<string, number> {
	const of = (at: number) => `Mozilla/5.0 (X; ${name}${at}.0) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/604.1`;
	return Object.fromEntries(Array.from({ length: 10 }, (_, at) => [of(at), weight / 10]));
}

const NAVIGATION = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const PROVIDERS = [7922, 20115, 7018, 701, 21928, 22394];
const HOSTERS = [16509, 14061, 24940, 16276, 20473];
/** Clicks an hour, from midnight on. */
const HOURS = [2, 1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 5, 6, 6, 5, 5, 5, 6, 7, 8, 9, 9, 7, 4];

type Person = { actor: PersonKind; address: string; userAgent: string; asn: number };

class Day {
	readonly clicks: TrafficClick[] = [];
	readonly #start: number;
	readonly #random: Random;
	readonly #brands: readonly number[];
	#auctions = 0;

	constructor(start: number, seed: number) {
		this.#start = start;
		this.#random = new Random(seed);
		let sum = 0;
		this.#brands = Array.from({ length: BRANDS }, (_, at) => (sum += 1 / (at + 1)));
	}

	people(visits: number): void {
		const random = this.#random;
		for (let made = 0; made < visits; made++) {
			const person = this.#person();
			const at = this.#time(person.actor === "office" ? [9, 17] : [0, 24]);
			const brandId = this.#brand();
			const first = this.#visit(person, at, brandId);
			if (random.chance(0.01)) this.#add({ ...first, at: at + random.integer(200, 1_500), worth: "again" });
			// Back, and the same brand again: by a bid or link of its own.
			if (random.chance(0.03)) this.#visit(person, at + random.integer(20_000, 40 * MINUTE), brandId, "again");
		}
	}

	#visit(person: Person, at: number, brandId: number, worth: "visit" | "again" = "visit"): TrafficClick {
		const random = this.#random;
		const abroad = random.chance(0.004) ? "CA" : "US";
		const isHosted = random.chance(0.004);
		const moved = person.actor === "phone" && random.chance(0.03) ? this.#phoneAddress() : person.address;
		const first: TrafficClick = {
			actor: person.actor,
			worth,
			at,
			method: "GET",
			address: moved,
			userAgent: person.userAgent,
			headers: { "cf-ipcountry": random.chance(0.02) ? "XX" : abroad, ...(random.chance(0.04) ? {} : NAVIGATION) },
			asn: isHosted ? random.pick(HOSTERS) : person.asn,
			brandId,
			bid: random.chance(0.5) ? this.#bid(at - random.integer(1_000, 4 * MINUTE), person) : null,
		};
		this.#add(first);
		return first;
	}

	#person(): Person {
		const random = this.#random;
		const actor = random.weighted({ phone: 60, home: 33, office: 7 });
		const asn = random.pick(PROVIDERS);
		if (actor === "phone") return { actor, address: this.#phoneAddress(), userAgent: random.weighted(PHONES), asn };
		if (actor === "office") {
			const userAgent = random.chance(0.7) ? CHROME : random.weighted(DESKTOPS);
			return { actor, address: `198.18.0.${random.integer(1, 60)}`, userAgent, asn };
		}
		return { actor, address: this.#household(), userAgent: random.weighted(random.chance(0.5) ? PHONES : DESKTOPS), asn };
	}

	#household(): string {
		const at = this.#random.integer(0, 60_000);
		return `100.${64 + (at >> 14)}.${(at >> 6) & 255}.${(at & 63) + 1}`;
	}

	#phoneAddress(): string {
		const random = this.#random;
		if (random.chance(0.3)) return `172.56.${random.integer(0, 3)}.${random.integer(1, 100)}`;
		return `2607:fb90:${random.integer(0, 0xffff).toString(16)}:${random.integer(0, 0xffff).toString(16)}::1`;
	}

	prefetchers(count: number): void {
		const random = this.#random;
		for (let made = 0; made < count; made++) {
			const person = this.#person();
			const at = this.#time([0, 24]);
			const bid = this.#bid(at, person);
			const brandId = this.#brand();
			const early = { ...this.#nobody("prefetcher", at + 50), brandId, bid };
			if (random.chance(0.3)) {
				const headers = { "cf-ipcountry": "US", "sec-purpose": "prefetch", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "empty" };
				this.#add({ ...early, address: person.address, userAgent: person.userAgent, asn: person.asn, headers });
			} else {
				const userAgent = random.pick([null, null, "Java/17.0.2", "Go-http-client/2.0", "okhttp/4.12.0"]);
				const headers = random.chance(0.3) ? { "x-purpose": "preview" } : {};
				this.#add({ ...early, address: `203.0.113.${random.integer(1, 40)}`, userAgent, headers, asn: 65_000 });
			}
			// Some of the URLs are then clicked.
			if (!random.chance(0.2)) continue;
			const headers = { "cf-ipcountry": "US", ...NAVIGATION };
			this.#add({ ...early, ...person, at: at + random.integer(3_000, MINUTE), worth: "visit", headers });
		}
	}

	linkCheckers(count: number): void {
		const random = this.#random;
		for (let made = 0; made < count; made++) {
			const click = { ...this.#nobody("link_checker", this.#time([0, 24])), brandId: this.#brand() };
			const kind = random.weighted({ crawler: 5, head: 2, nameless: 2, gateway: 1 });
			const userAgent = {
				crawler: random.pick(["Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "W3C-checklink/5.0", "curl/8.5.0"]),
				head: CHROME,
				nameless: null,
				gateway: CHROME,
			}[kind];
			const asn = kind === "gateway" ? 8_075 : random.pick([...HOSTERS, 65_001]);
			const address = `192.0.2.${random.integer(1, 200)}`;
			this.#add({ ...click, method: kind === "head" ? "HEAD" : "GET", userAgent, asn, address });
		}
	}

	stuffing(pages: number): void {
		const random = this.#random;
		for (let made = 0; made < pages; made++) {
			const { address, userAgent, asn } = this.#person();
			const click = { ...this.#nobody("stuffing", this.#time([0, 24])), address, userAgent, asn, brandId: this.#brand() };
			const [mode, destination] = random.pick([
				["no-cors", "image"],
				["navigate", "iframe"],
				["cors", "empty"],
			] as const);
			const sent = random.chance(0.04) ? {} : { "sec-fetch-mode": mode, "sec-fetch-dest": destination };
			this.#add({ ...click, headers: { "cf-ipcountry": "US", ...sent } });
		}
	}

	/** Eight hours of a board of phones behind one line. */
	phoneBoard(address: string): void {
		const from = this.#time([0, 15]);
		const asn = this.#random.pick(PROVIDERS);
		for (let phone = 0; phone < 60; phone++) {
			const userAgent = this.#random.weighted(PHONES);
			for (let at = from + phone * 300; at < from + 8 * HOUR; at += this.#random.integer(15_000, 25_000)) {
				const headers = { "cf-ipcountry": "US", ...NAVIGATION };
				const brandId = this.#random.integer(0, 24);
				this.#add({
					...this.#nobody("farm", at),
					address,
					userAgent,
					asn,
					headers,
					brandId,
					bid: this.#anyBid(at, { address, userAgent }),
				});
			}
		}
	}

	/** Eight hours of rented servers that call themselves browsers. */
	servers(network: string): void {
		const from = this.#time([0, 15]);
		for (let at = from; at < from + 8 * HOUR; at += this.#random.integer(500, 1_500)) {
			const device = { address: `${network}.${this.#random.integer(1, 50)}`, userAgent: this.#random.weighted(DESKTOPS) };
			const headers = { "cf-ipcountry": "US", ...NAVIGATION };
			const more = { headers, asn: this.#random.pick(HOSTERS), brandId: this.#brand(), bid: this.#anyBid(at, device) };
			this.#add({ ...this.#nobody("farm", at), ...device, ...more });
		}
	}

	proxiedFarm(count: number): void {
		for (let made = 0; made < count; made++) {
			const at = this.#time([0, 24]);
			const device = { address: this.#household(), userAgent: this.#random.weighted(DESKTOPS) };
			const headers = { "cf-ipcountry": this.#random.chance(0.3) ? "BR" : "US", ...NAVIGATION };
			const more = { headers, asn: this.#random.pick(PROVIDERS), brandId: this.#brand(), bid: this.#anyBid(at, device) };
			this.#add({ ...this.#nobody("proxied_farm", at), ...device, ...more });
		}
	}

	/** A bid that a person clicks, and whose URL others then call. */
	replays(count: number): void {
		for (let made = 0; made < count; made++) {
			const person = this.#person();
			const first = this.#visit(person, this.#time([0, 20]), this.#brand());
			const bid = first.bid ?? this.#bid(first.at - 5_000, person);
			first.bid = bid;
			for (let again = 0; again < 10; again++) {
				const at = first.at + this.#random.integer(1_000, 3 * HOUR);
				const { address, userAgent, asn } = this.#person();
				const headers = { "cf-ipcountry": "US", ...NAVIGATION };
				this.#add({ ...this.#nobody("replayer", at), address, userAgent, asn, headers, brandId: first.brandId, bid });
			}
		}
	}

	/** Sixty bids: kept for hours, or called at once by one program in a browser's name. */
	hoard(isKept: boolean): void {
		const from = this.#time([0, 12]);
		const { address, userAgent, asn } = this.#person();
		for (let made = 0; made < 60; made++) {
			const bid = this.#bid(from + made * 1_000, { address, userAgent });
			const at = isKept ? from + this.#random.integer(2 * HOUR, 8 * HOUR) : from + 5 * MINUTE + made * 100;
			const headers = { "cf-ipcountry": "US", ...NAVIGATION };
			this.#add({ ...this.#nobody("hoarder", at), address, userAgent, asn, headers, brandId: made % 6, bid });
		}
	}

	#nobody(actor: Actor, at: number): TrafficClick {
		const plain = { method: "GET", address: "203.0.113.1", userAgent: null, headers: {}, asn: undefined, brandId: 0, bid: null } as const;
		return { actor, worth: "nothing", at, ...plain };
	}

	#anyBid(at: number, device: { address: string; userAgent: string }): TrafficClick["bid"] {
		return this.#random.chance(0.5) ? this.#bid(at - 2_000, device) : null;
	}

	#bid(at: number, { address, userAgent }: { address: string; userAgent: string }): NonNullable<TrafficClick["bid"]> {
		return { auction: String(this.#auctions++), at, address, userAgent };
	}

	#time([first, last]: readonly [number, number]): number {
		const hours = Object.fromEntries(HOURS.slice(first, last).map((weight, at) => [String(first + at), weight]));
		return this.#start + Number(this.#random.weighted(hours)) * HOUR + this.#random.integer(0, HOUR - 1);
	}

	#brand(): number {
		const at = this.#random.next() * (this.#brands.at(-1) ?? 0);
		return this.#brands.findIndex((sum) => at < sum);
	}

	#add(click: TrafficClick): void {
		if (click.at < this.#start + DAY) this.clicks.push(click);
	}
}

/** A day of traffic in the order of its clicks. @param start midnight, Unix milliseconds @param scale times as many people */
export function mixTraffic(start: number, seed: number, scale = 1): TrafficClick[] {
	const day = new Day(start, seed);
	day.people(VISITS * scale);
	day.prefetchers(6_000);
	day.linkCheckers(4_000);
	day.stuffing(5_000);
	for (const address of ["203.0.113.77", "203.0.113.78"]) day.phoneBoard(address);
	day.servers("192.0.2");
	day.replays(200);
	for (let at = 0; at < 20; at++) day.hoard(at % 2 === 0);
	day.proxiedFarm(3_000);
	return day.clicks.sort((a, b) => a.at - b.at);
}
