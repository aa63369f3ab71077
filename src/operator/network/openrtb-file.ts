/** `openrtb` of a publisher in the network file: what its requests are read for beyond the interface. */
import * as v from "valibot";
import { canonicalHost } from "../../lib/host.ts";
import type { OpenRtbOptions, SupplyParty } from "../../lib/openrtb-options.ts";
import { listOfAtMost, notAList } from "../../lib/shapes.ts";

const MAX_PARTIES = 200;
const MAX_SELLER_LENGTH = 255;

const flag = v.optional(v.boolean("must be true or false"));
const party = notAList(
	v.strictObject({
		asi: v.pipe(
			v.string("must be a text"),
			v.transform((value) => canonicalHost(value) ?? ""),
			v.nonEmpty("must be a domain such as exchange.example"),
		),
		sid: v.optional(
			v.pipe(
				v.string("must be a text"),
				v.trim(),
				v.nonEmpty("must not be blank"),
				v.maxLength(MAX_SELLER_LENGTH, `must have at most ${MAX_SELLER_LENGTH} characters`),
			),
		),
	}),
);
const schain = notAList(
	v.strictObject({
		parties: v.optional(
			v.pipe(listOfAtMost(party, MAX_PARTIES, `must have at most ${MAX_PARTIES} parties`), v.minLength(1, "must name at least one party")),
		),
	}),
);

/** A closed object: an option whose name is misspelt would silently not hold. Null where nothing is set. */
export const openRtbSchema = v.pipe(
	notAList(
		v.strictObject(
			{ keywords: flag, bcat: flag, bot_ua: flag, exp: flag, nbr: flag, schain: v.nullish(schain) },
			"must be an object of options: keywords, bcat, bot_ua, exp, nbr, schain",
		),
	),
	v.transform(({ keywords, bcat, bot_ua, exp, nbr, schain: chain }): OpenRtbOptions | null => {
		const options: OpenRtbOptions = {
			...(keywords === true && { keywords }),
			...(bcat === true && { bcat }),
			...(bot_ua === true && { bot_ua }),
			...(exp === true && { exp }),
			...(nbr === true && { nbr }),
			...(chain != null && { schain: chain.parties === undefined ? {} : { parties: chain.parties.map(toParty) } }),
		};
		return Object.keys(options).length === 0 ? null : options;
	}),
);

function toParty({ asi, sid }: { asi: string; sid?: string | undefined }): SupplyParty {
	return sid === undefined ? { asi } : { asi, sid };
}
