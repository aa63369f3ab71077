/** Loss reason codes of OpenRTB: why a bid did not win. Exchanges have further ones of their own. */

export const WON = 0;
export const LOST_TO_HIGHER_BID = 102;

const MEANINGS: Readonly<Record<number, string>> = {
	[WON]: "bid won",
	1: "internal error",
	2: "impression opportunity expired",
	3: "invalid bid response",
	4: "invalid deal id",
	5: "invalid auction id",
	6: "invalid advertiser domain",
	7: "missing markup",
	8: "missing creative id",
	9: "missing bid price",
	10: "missing minimum creative approval data",
	100: "bid was below auction floor",
	101: "bid was below deal floor",
	[LOST_TO_HIGHER_BID]: "lost to higher bid",
	103: "lost to a bid for a deal",
	104: "buyer seat blocked",
	200: "creative filtered: general, reason unknown",
	201: "creative filtered: pending processing by exchange",
	202: "creative filtered: disapproved by exchange",
	203: "creative filtered: size not allowed",
	204: "creative filtered: incorrect creative format",
	205: "creative filtered: advertiser exclusions",
	206: "creative filtered: app bundle exclusions",
	207: "creative filtered: not secure",
	208: "creative filtered: language exclusions",
	209: "creative filtered: category exclusions",
	210: "creative filtered: creative attribute exclusions",
	211: "creative filtered: ad type exclusions",
	212: "creative filtered: animation too long",
	213: "creative filtered: not allowed in deal",
};

/** Null where OpenRTB has no such code. */
export function meaningOf(loss: number): string | null {
	return MEANINGS[loss] ?? null;
}
