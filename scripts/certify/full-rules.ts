/** The rules of `response_profile: full`. */
import { bidOf, isFill, NEVER_IN_ANY_BID, neverRule, post, request } from "./openrtb-asks.ts";
import { expectEqual, expectThat, type Rule, shown } from "./rule.ts";

const isNotice = (kind: string, url: unknown, ...macros: string[]): string[] =>
	typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url) && macros.every((macro) => url.includes(macro))
		? []
		: [`${kind} is ${shown(url)}, expected an http(s) URL that holds ${macros.join(" and ")}`];

/** What a bid that is answered in full has beside. */
export const FULL_RULES: readonly Rule[] = [
	neverRule("a bid in full has none of nbr, group, w, h and dealid, and ext only in the bid", NEVER_IN_ANY_BID),
	{
		name: "a bid in full has crid, cid, mtype 4 and exp",
		send: (subject) => post(subject, request(subject)),
		check(answer) {
			const { crid, cid, mtype, exp } = bidOf(answer);
			return [
				...isFill(answer),
				...expectThat(typeof crid === "string" && crid !== "", "crid is no text"),
				...expectThat(typeof cid === "string" && cid !== "", "cid is no text"),
				...expectEqual("mtype", mtype, 4),
				...expectThat(Number.isInteger(exp) && Number(exp) > 0, "exp is no number of seconds"),
			];
		},
	},
	{
		name: "a bid in full has nurl, burl and lurl with their macros",
		send: (subject) => post(subject, request(subject)),
		check(answer) {
			const { nurl, burl, lurl } = bidOf(answer);
			const macro = (name: string) => `$\{AUCTION_${name}}`;
			return [
				...isFill(answer),
				...isNotice("nurl", nurl, macro("PRICE")),
				...isNotice("burl", burl, macro("PRICE")),
				...isNotice("lurl", lurl, macro("LOSS"), macro("MIN_TO_WIN")),
			];
		},
	},
	{
		name: "a bid in full has cat and cattax together, or neither",
		send: (subject) => post(subject, request(subject)),
		check(answer) {
			const { cat, cattax } = bidOf(answer);
			const isNone = cat === undefined && cattax === undefined;
			const isBoth = Array.isArray(cat) && cat.length > 0 && cat.every((name) => typeof name === "string") && Number.isInteger(cattax);
			return [...isFill(answer), ...expectThat(isNone || isBoth, "cat is no list of texts, or cattax no number")];
		},
	},
];
