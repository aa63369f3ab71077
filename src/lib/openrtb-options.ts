/** What a publisher's OpenRTB requests are read for beyond the interface, and how they are answered: as the network file, the database and the book have it. */

/** A party of a supply chain: the system that takes part, and its seller there, or any of them. */
export type SupplyParty = { asi: string; sid?: string };

/** Absent: not set. Names are those of the network file. */
export type OpenRtbOptions = {
	/** Reads `keywords` and `kwarray` of site and app, and `user.kwarray`, beside `user.keywords`. */
	keywords?: true;
	/** Obeys `bcat` and `acat`. */
	bcat?: true;
	/** No bid for the user agent of a known bot. */
	bot_ua?: true;
	/** `imp.exp` bounds for how long a click on the bid is paid. */
	exp?: true;
	/** Tells the code of a no-bid in a header. */
	nbr?: true;
	/** No bid without a complete supply chain; of these parties only, if any are named. */
	schain?: { parties?: SupplyParty[] };
};

/** `contract`: the answer of the interface and nothing more. */
export const RESPONSE_PROFILES = ["contract", "full"] as const;
