/**
 * Golden cases: JSON files that state a request and its whole answer. See test/fixtures/README.md for the language.
 */
import * as v from "valibot";

const params = v.record(v.string(), v.string());

/** Deviations from the plain OpenRTB fill; the whole body is built from them and compared exactly. */
const fillSchema = v.strictObject({
	price: v.number(),
	domain: v.string(),
	campaign_id: v.number(),
	/** Every parameter of the click URL after encyp and rtuli. */
	click_url: params,
	publisher: v.optional(v.string()),
	seat: v.optional(v.string(), "acme-seat"),
	id: v.optional(v.string(), "auction-1"),
	impid: v.optional(v.string(), "imp-1"),
	final_url: v.optional(v.string()),
	altered: v.optional(v.boolean(), false),
	/** The advertiser was chosen by keyword: no adomain, no advertiser_name. */
	by_keyword: v.optional(v.boolean(), false),
	/** A test bid: price 0, and a token that holds 0. */
	test: v.optional(v.boolean(), false),
});

/** Deviations from the plain Serving Engine ad. */
const adSchema = v.strictObject({
	bid_amount: v.string(),
	domain: v.string(),
	campaign_id: v.number(),
	click_url: params,
	is_deeplink: v.optional(v.picklist(["Yes", "No"]), "No"),
	publisher: v.optional(v.string(), "acme_rtb"),
});

const expectSchema = v.strictObject({
	status: v.number(),
	headers: v.optional(v.record(v.string(), v.nullable(v.string())), {}),
	body: v.optional(v.unknown()),
	fill: v.optional(fillSchema),
	ad: v.optional(adSchema),
	/** Why there was no bid, as the operator's explanation has it: an empty answer alone could be empty for another reason. */
	reason: v.optional(v.string()),
});

const caseSchema = v.strictObject({
	description: v.string(),
	rule: v.string(),
	/** Title and address of the document whose shapes the request has. */
	follows: v.optional(v.pipe(v.string(), v.regex(/^.+: https:\/\/\S+$/))),
	now: v.optional(v.pipe(v.string(), v.isoTimestamp())),
	path: v.string(),
	method: v.optional(v.string()),
	headers: v.optional(v.record(v.string(), v.string()), {}),
	request: v.optional(v.unknown()),
	/** A body that is sent as it stands, instead of `request`. */
	raw: v.optional(v.string()),
	/** The body is sent compressed. */
	gzip: v.optional(v.boolean(), false),
	query: v.optional(v.union([params, v.string()])),
	expect: expectSchema,
});

export type GoldenCase = v.InferOutput<typeof caseSchema>;
export type FillExpectation = v.InferOutput<typeof fillSchema>;
export type AdExpectation = v.InferOutput<typeof adSchema>;

/** Reads a case file. @throws Error that names the file, where it says what this language does not know */
export function readCase(file: string, text: string): GoldenCase {
	const result = v.safeParse(caseSchema, JSON.parse(text));
	if (!result.success) {
		throw new Error(`${file}: ${result.issues.map((issue) => `${v.getDotPath(issue) ?? "the file"}: ${issue.message}`).join("; ")}`);
	}
	return result.output;
}

/** The cases of files found by import.meta.glob (raw text), by a short name. */
export function readCases(files: Record<string, string>): [name: string, golden: GoldenCase][] {
	return Object.entries(files).map(([file, text]) => [file.replace(/^.*\/fixtures\//, "").replace(/\.json$/, ""), readCase(file, text)]);
}
