/** Words that the demo's brands, products and prices are made of. */

/** A kind of shop: what it is called in each language, what it sells, and what a click on it earns (USD, gross). */
export type Category = {
	name: string;
	shop: Record<Language, readonly string[]>;
	/** Search keywords that campaigns pay for. */
	keywords: readonly string[];
	/** What is sold, with its price range in whole units of the currency. */
	goods: readonly (readonly [noun: string, low: number, high: number])[];
	/** Lowest and highest EPC in ten-thousandths of a USD. */
	epc: readonly [number, number];
	/** Lowest and highest commission in percent. */
	commission: readonly [number, number];
};

export type Language = "en" | "de" | "fr";

const list = (text: string): readonly string[] => text.split(", ");

/** Goods and their price ranges. @example goods("yoga mat 18-90, foam roller 12-45") */
function goods(text: string): Category["goods"] {
	return list(text).map((item) => {
		const [, noun = "", low, high] = /^(.*) (\d+)-(\d+)$/.exec(item) ?? [];
		return [noun, Number(low), Number(high)] as const;
	});
}

/** First part of a brand's name. Together with the shop's word there are far more names than brands. */
export const NAMES: Record<Language, readonly string[]> = {
	en: list(
		"Juniper, Copper Pike, Harbour, Fieldstone, Larkspur, Northgate, Willow Bend, Amberley, Cedar Row, Foxglove, Granite Bay, Hollin, Ironbridge, Kestrel, Lantern Hill, Marlow, Nettle, Oakham, Pemberton, Quarry Lane, Redfern, Saltmarsh, Thistle, Underhill, Vesper, Wrenfield, Yarrow, Bluewater, Cobble, Driftwood, Elmstead, Fernway",
	),
	de: list("Lindenhof, Ahorn, Nordlicht, Waldsee, Kranich, Steinbrück, Morgenrot, Heidekraut, Falkenberg, Silberbach, Rheinufer, Birkenau"),
	fr: list(
		"Maison Aubrac, Belleroche, Clairval, Montfleur, Rivelune, Sauvignac, Verdelle, Hautbois, Lavandine, Petit Canal, Étoile du Nord, Beaurivage",
	),
};

export const FOOTWEAR: Category = {
	name: "Footwear",
	shop: { en: ["Shoes", "Footwear", "Boots"], de: ["Schuhe"], fr: ["Chaussures"] },
	keywords: list("running shoes, hiking boots, trail shoes, sneakers, sandals"),
	goods: goods("running shoes 60-180, hiking boots 90-260, canvas sneakers 35-90, leather sandals 30-110, slippers 15-50"),
	epc: [1200, 6500],
	commission: [4, 12],
};

export const CATEGORIES: readonly Category[] = [
	FOOTWEAR,
	{
		name: "Fashion",
		shop: { en: ["Apparel", "Clothing", "Denim"], de: ["Moden"], fr: ["Mode"] },
		keywords: list("winter jacket, summer dress, slim jeans, wool sweater, linen shirt"),
		goods: goods("winter jacket 80-320, linen shirt 30-95, wool sweater 45-160, straight jeans 40-140, summer dress 35-150"),
		epc: [900, 5200],
		commission: [5, 14],
	},
	{
		name: "Home",
		shop: { en: ["Home", "Furniture", "Living"], de: ["Möbel", "Wohnen"], fr: ["Maison", "Meubles"] },
		keywords: list("office chair, bed linen, floor lamp, coffee table, standing desk"),
		goods: goods("floor lamp 40-240, office chair 90-480, bed linen set 35-160, coffee table 80-420, wall mirror 30-180"),
		epc: [1500, 9800],
		commission: [3, 9],
	},
	{
		name: "Kitchen",
		shop: { en: ["Kitchen", "Cookware"], de: ["Küche"], fr: ["Cuisine"] },
		keywords: list("cast iron pan, espresso machine, chef knife, water bottle, air fryer"),
		goods: goods("cast iron pan 25-120, espresso machine 120-900, chef knife 30-180, water bottle 12-45, mixing bowl set 18-70"),
		epc: [1100, 5600],
		commission: [3, 8],
	},
	{
		name: "Electronics",
		shop: { en: ["Audio", "Electronics", "Computers"], de: ["Elektronik"], fr: ["Électronique"] },
		keywords: list("wireless headphones, 4k monitor, gaming laptop, phone case, smart watch"),
		goods: goods("wireless headphones 40-380, 27 inch monitor 140-700, mechanical keyboard 50-220, phone case 10-45, smart watch 80-450"),
		epc: [700, 3900],
		commission: [1, 5],
	},
	{
		name: "Outdoor",
		shop: { en: ["Outdoor", "Cycles", "Camping"], de: ["Outdoor", "Fahrräder"], fr: ["Plein Air"] },
		keywords: list("camping tent, mountain bike, sleeping bag, rain jacket, climbing rope"),
		goods: goods("two person tent 90-520, down sleeping bag 80-400, rain jacket 60-280, bike helmet 30-160, headlamp 15-80"),
		epc: [1300, 7200],
		commission: [4, 11],
	},
	{
		name: "Beauty",
		shop: { en: ["Beauty", "Skincare"], de: ["Naturkosmetik"], fr: ["Parfums", "Beauté"] },
		keywords: list("face cream, vitamin c serum, perfume, hair dryer, sunscreen"),
		goods: goods("face cream 14-80, vitamin C serum 18-70, eau de parfum 45-180, shampoo bar 7-18, sunscreen SPF 50 10-35"),
		epc: [1000, 4800],
		commission: [6, 18],
	},
	{
		name: "Pets",
		shop: { en: ["Pets", "Pet Supplies"], de: ["Tierbedarf"], fr: ["Animaux"] },
		keywords: list("dog food, cat tree, dog bed, aquarium filter, cat litter"),
		goods: goods("grain free dog food 20-90, cat tree 40-190, orthopaedic dog bed 35-150, aquarium filter 18-95, chew toy 5-22"),
		epc: [800, 3600],
		commission: [4, 10],
	},
	{
		name: "Toys",
		shop: { en: ["Toys", "Games"], de: ["Spielwaren"], fr: ["Jouets"] },
		keywords: list("wooden train, board game, puzzle, building blocks, plush toy"),
		goods: goods("wooden train set 25-110, strategy board game 20-75, 1000 piece puzzle 12-35, building blocks 15-120, plush bear 10-45"),
		epc: [600, 2900],
		commission: [3, 9],
	},
	{
		name: "Garden",
		shop: { en: ["Garden", "Nurseries"], de: ["Garten"], fr: ["Jardins"] },
		keywords: list("raised bed, garden hose, lawn mower, rose bush, patio heater"),
		goods: goods("raised garden bed 45-220, garden hose 25 m 20-80, pruning shears 12-60, teak bench 120-600, solar lantern 10-55"),
		epc: [900, 5400],
		commission: [4, 10],
	},
	{
		name: "Travel",
		shop: { en: ["Luggage", "Travel"], de: ["Reisen"], fr: ["Voyages"] },
		keywords: list("carry on suitcase, travel backpack, city break, hotel deals, travel insurance"),
		goods: goods("carry-on suitcase 70-380, travel backpack 50-240, packing cubes 15-50, neck pillow 12-45, toiletry bag 14-60"),
		epc: [1800, 12500],
		commission: [2, 7],
	},
	{
		name: "Health",
		shop: { en: ["Nutrition", "Fitness"], de: ["Apotheke", "Fitness"], fr: ["Santé"] },
		keywords: list("protein powder, yoga mat, vitamin d, foam roller, electric toothbrush"),
		goods: goods("protein powder 20-75, yoga mat 18-90, vitamin D drops 8-25, foam roller 12-45, electric toothbrush 30-200"),
		epc: [1400, 8800],
		commission: [5, 16],
	},
];

export const STYLES = [
	"Classic",
	"Everyday",
	"Lightweight",
	"Premium",
	"Compact",
	"Heritage",
	"Recycled",
	"Essential",
	"Signature",
	"Studio",
] as const;
export const COLOURS = ["black", "slate", "olive", "sand", "navy", "terracotta", "ivory", "forest green", "burgundy", "sky blue"] as const;

export type Market = {
	country: string;
	language: Language;
	currency: string;
	zones: readonly string[];
	/** EPC against the US, in percent. */
	level: number;
};

export const MARKETS = {
	US: {
		country: "US",
		language: "en",
		currency: "USD",
		zones: ["America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"],
		level: 100,
	},
	CA: { country: "CA", language: "en", currency: "CAD", zones: ["America/Toronto", "America/Vancouver", "America/St_Johns"], level: 75 },
	GB: { country: "GB", language: "en", currency: "GBP", zones: ["Europe/London"], level: 85 },
	AU: { country: "AU", language: "en", currency: "AUD", zones: ["Australia/Sydney", "Australia/Adelaide", "Australia/Perth"], level: 70 },
	DE: { country: "DE", language: "de", currency: "EUR", zones: ["Europe/Berlin"], level: 80 },
	FR: { country: "FR", language: "fr", currency: "EUR", zones: ["Europe/Paris"], level: 70 },
	NL: { country: "NL", language: "en", currency: "EUR", zones: ["Europe/Amsterdam"], level: 72 },
	IN: { country: "IN", language: "en", currency: "INR", zones: ["Asia/Kolkata"], level: 20 },
} as const satisfies Record<string, Market>;

export type Country = keyof typeof MARKETS;
