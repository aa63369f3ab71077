/** The click tracker. Its links come from bids, brand lists and product searches; nobody writes them. */
import * as v from "valibot";
import { CLICK_TEXTS, type ClickText } from "../../clicks/message.ts";
import type { Content, Operation, Parameter } from "../operation.ts";

const text = v.string();

const TEXTS: Record<ClickText, string> = {
	clickid: "Your own click id; comes back in reports and callbacks.",
	subi: "Your sub id; `source_id` of reports.",
	psorc: "Your traffic source; `source_id` where there is no `subi`.",
	pcat: "Your source category.",
	subid1: "A value of yours; comes back in reports.",
	subid2: "As subid1.",
	subid3: "As subid1.",
	subid4: "As subid1.",
	subid5: "As subid1.",
	uid: "User id of a bid request (`user.buyeruid`); `user_id` of reports.",
	atag: "Marketplace tag, in links of products.",
};

const PAGE: Content = { schema: null, type: "text/plain" };
const HEADERS = {
	"cache-control": "Always no-store.",
	"referrer-policy": "Always strict-origin-when-cross-origin.",
	"x-robots-tag": "Always noindex, nofollow.",
};

export const CLICK_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/click",
		id: "followClick",
		tag: "Clicks",
		host: "click",
		summary: "Follow a link",
		description:
			"Redirects the user to the platform's link, which carries the click hash. HEAD answers the same and is never counted; nor are prefetches, bots, test bids, repeated clicks of one bid, and links of bids older than 60 minutes (or the time agreed with you), all of which are redirected too. Values that are unfilled placeholders count as absent, and so do values over 255 characters (`clickid` 1,024, `dl` 2,048).",
		parameters: [
			{ in: "query", name: "encyp", required: true, description: "Opaque token.", schema: text },
			{ in: "query", name: "cc", description: "Country the link was made for.", schema: text },
			{ in: "query", name: "dl", description: "Page of the brand; on any other host the homepage is opened instead.", schema: text },
			...CLICK_TEXTS.map((name): Parameter => ({ in: "query", name, description: TEXTS[name], schema: text })),
			{ in: "query", name: "rtuli", description: "Id of the auction, in links of bids. For information.", schema: text },
			{ in: "query", name: "ip", description: "The user's IPv4 address as an integer, in links of bids. For information.", schema: text },
			{ in: "query", name: "pli", description: "Id of the platform, in links of bids. For information.", schema: text },
			{ in: "query", name: "tsts", description: "1 in links of test bids. For information.", schema: text },
		],
		answers: {
			302: { description: "To the platform.", headers: { location: "The platform's link.", ...HEADERS } },
			404: {
				description: "A line for the user: the token is not one of ours, or its brand has no link any more.",
				headers: HEADERS,
				content: PAGE,
			},
			405: { description: "Another method than GET or HEAD.", headers: { allow: "GET, HEAD", ...HEADERS }, content: PAGE },
			503: {
				description: "No campaign book can be read just now.",
				headers: { "retry-after": "Seconds to wait.", ...HEADERS },
				content: PAGE,
			},
		},
	},
];
