/** What a conversion takes of its click: pure. */
import type { Attribution } from "../lib/enums.ts";
import type { Conversion } from "./conversion.ts";
import type { CandidateClick } from "./match-click.ts";

/** A conversion with its click, and the share and pricing model that the click was made under; no postback changes them afterwards. */
export function attributedTo(conversion: Conversion, click: CandidateClick, attribution: Attribution): Conversion {
	return {
		...conversion,
		attribution,
		clickId: click.id,
		clickedAt: click.clickedAt,
		publisherId: click.publisherId,
		publisherClickId: click.publisherClickId,
		sourceId: click.sourceId,
		brandId: click.brandId,
		campaignId: click.campaignId,
		// What the click was billed by counts: one that was paid for by itself earns nothing more.
		pricingModel: click.pricingModel ?? click.publisherPricingModel,
		revenueSharePpm: click.revenueSharePpm,
		test: click.isTest === 1,
	};
}

/** What a conversion has of its click while there is none. */
export const NO_CLICK = {
	attribution: null,
	clickId: null,
	clickedAt: null,
	publisherId: null,
	publisherClickId: null,
	sourceId: null,
	brandId: null,
	campaignId: null,
	pricingModel: null,
	revenueSharePpm: null,
} as const satisfies Partial<Conversion>;

/** The same without its click, and without what it was worth or held for by that. */
export function withoutClick(conversion: Conversion): Conversion {
	return {
		...conversion,
		...NO_CLICK,
		test: false,
		clickUnseen: false,
		heldFor: null,
		usdNanos: null,
		grossMicros: null,
		salesUsdMicros: null,
		revenueMicros: null,
	};
}
