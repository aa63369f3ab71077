/** Publishers, brands and campaigns on the wire, in manifests and shards: short names, absent means the default. */
import type { PricingModel, PrivacyPolicy } from "../lib/enums.ts";
import type { OpenRtbOptions } from "../lib/openrtb-options.ts";
import type { ReleaseWire } from "../lib/release.ts";
import type { TrafficSettings } from "../lib/traffic-rules.ts";
import type { BookAccessKey, HeldBack } from "./book.ts";

export type PublisherWire = {
	/** Publisher's natural key in the network file. */
	id: string;
	/** What the blocks of brands call it, in books of format 2. */
	n?: number;
	/** `pubi` of the Serving Engine; absent where that endpoint is not enabled. */
	pubi?: string;
	/** Path segment of the OpenRTB endpoint; absent where that endpoint is not enabled. */
	rtb?: string;
	/** The publisher identity that click tokens carry. */
	identity: string;
	seat?: string;
	/** Revenue share, parts per million. */
	share: number;
	/** What the publisher is paid for; absent in books of earlier versions. */
	model?: PricingModel;
	/** Blocked brands: domain → countries, an empty list for all of them. */
	blocked?: Record<string, string[]>;
	/** 1 where the publisher is suspended. */
	x?: 1;
	/** Minutes for which a click on a bid is paid; absent: the default. */
	m?: number;
	/** What a privacy signal that says no does; absent: `strip`. */
	v?: Exclude<PrivacyPolicy, "strip">;
	/** The publisher's own rules on which clicks are paid. */
	traffic?: TrafficSettings;
	/** What its OpenRTB requests are read for beyond the interface. */
	o?: OpenRtbOptions;
	/** 1 where its bids are answered in full. */
	f?: 1;
	/** Its Access Keys, where they open something at the edge: `openrtb.nbr`. */
	k?: BookAccessKey[];
	/** 1 where it is bid the operator's numbers, whatever was learned. */
	l?: 1;
	/** Where it no longer is. */
	q?: ReleaseWire;
	/** Names that others have replaced. Readers that do not know them serve the present ones. */
	former?: FormerNameWire[];
};

export type FormerNameWire = {
	/** Which name it was. A publisher id stands here as long as it is valid; an identity for good, since click tokens carry it. */
	n: "pubi" | "identity";
	/** The name. */
	v: string;
	/** From when requests may no longer use it, Unix milliseconds. */
	u: number;
};

export type BrandWire = {
	/** Internal brand id: the advertiser id. */
	i: number;
	/** Canonical domain. */
	d: string;
	/** Aliases. */
	a?: string[];
	/** 1 where the brand is not active. */
	x?: 1;
	/** Countries in which the brand is blocked. */
	b?: string[];
	/** IAB categories. Packed books have them beside the records, which earlier versions of the code read. */
	g?: string[];
	c: CampaignWire[];
};

export type CampaignWire = {
	/** Campaign id. */
	i: number;
	/** 1 where the campaign is not active. */
	x?: 1;
	/** Country. */
	o: string;
	/** Numeric platform id, the click URL's `pli`. */
	p?: number;
	/** Homepage link template; in a keyword entry only 1, for there is one. */
	h?: string | 1;
	/** Deeplink template; in a keyword entry only 1. */
	l?: string | 1;
	/** 1 where deeplinks are verified. */
	v?: 1;
	/** EPC, micro-dollars. */
	e?: number;
	/** Default keyword EPC, micro-dollars. */
	f?: number;
	/** Keyword → EPC, micro-dollars; a keyword entry holds only its own keyword. */
	k?: Record<string, number>;
	/** 1 where a cap is zero: the campaign never bids. */
	z?: 1;
	/** Time zone and the mask of allowed local hours (bit 0 is midnight to one); absent where all are allowed. */
	t?: string;
	m?: number;
	/** The campaign's own rules on which clicks are paid. */
	r?: TrafficSettings;
	/** {@link HeldBack}: to publishers who are paid by click, and to the others; absent: the operator's prices are bid. */
	w?: [byClick: number, all: number];
	/** The operator's `e`, `f` and `k`, where others stand there: for publishers to whom learned prices are not bid. */
	n?: [epc: number | null, defaultKeywordEpc: number | null, keywords: Record<string, number> | null];
	/** Where it no longer is bid by the operator's numbers, which `n` has. */
	q?: ReleaseWire;
};
