/** Where exchanges tell what became of bids. */
import * as v from "valibot";
import { NOTICE_KINDS } from "../../lib/enums.ts";
import type { Operation } from "../operation.ts";

const text = v.string();
const HEADERS = { "cache-control": "Always no-store.", "x-robots-tag": "Always noindex, nofollow." };

export const NOTICE_OPERATIONS: readonly Operation[] = [
	{
		method: "get",
		path: "/notice/{publisher_identity}/{kind}",
		id: "noteBid",
		tag: "Bids",
		host: "click",
		summary: "Tell what became of a bid",
		description:
			"`nurl`, `burl` and `lurl` of bids that are answered in full: an exchange calls them once it has put its values for their macros. Calls are counted; nothing is ever billed or paid by one. HEAD answers the same and is not counted.",
		parameters: [
			{ in: "path", name: "publisher_identity", required: true, description: "Whose bid it was.", schema: text },
			{ in: "path", name: "kind", required: true, description: "What became of it.", schema: v.picklist(NOTICE_KINDS) },
			{ in: "query", name: "price", description: "What the auction was sold for. For information.", schema: text },
			{ in: "query", name: "loss", description: "Loss code of OpenRTB. For information.", schema: text },
		],
		answers: {
			204: { description: "Counted.", headers: HEADERS },
			404: { description: "No identity, or no such kind.", headers: HEADERS },
			405: { description: "Another method than GET or HEAD.", headers: { allow: "GET, HEAD", ...HEADERS } },
		},
	},
];
