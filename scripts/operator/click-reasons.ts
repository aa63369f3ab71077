import type { CLICK_REASONS } from "../../src/lib/traffic-rules.ts";

/** Why a click is not paid, in words. */
export const REASONS: Readonly<Record<(typeof CLICK_REASONS)[number], string>> = {
	head: "asked for the headers alone (head)",
	prefetch: "fetched before anybody clicked (prefetch)",
	no_user_agent: "no browser named (no_user_agent)",
	bot: "a known robot (bot)",
	embedded: "called by a page, not by a user (embedded)",
	test: "a test (test)",
	expired: "the bid was too old (expired)",
	publisher_suspended: "the publisher is suspended (publisher_suspended)",
	campaign_stopped: "the campaign is inactive (campaign_stopped)",
	brand_stopped: "the brand is inactive (brand_stopped)",
	blocked: "the brand is blocked for the publisher or country (blocked)",
	country: "from another country than the campaign's (country)",
	data_centre: "from a hosting network (data_centre)",
	other_device: "neither the address nor the browser of the bid (other_device)",
	duplicate: "its bid was clicked before (duplicate)",
	repeat: "the same visitor was paid for shortly before (repeat)",
	velocity: "too many clicks of one visitor, address or network (velocity)",
	over_cap: "the campaign's click cap was met (over_cap)",
	over_budget: "it would have passed the campaign's budget (over_budget)",
	voided: "taken back by the operator (voided)",
};
