import * as v from "valibot";
import { NO_KEYWORD } from "../../src/learning/cell.ts";
import { CALLBACK_STATUSES } from "../../src/lib/enums.ts";
import { canonicalKeyword } from "../../src/lib/keyword.ts";
import { parseMicros } from "../../src/lib/money.ts";

/** The lines that `--serve` reads: amounts in USD, times in Unix milliseconds. */

const MAX_USD = 1e9;
/** Simulators may count from 0. */
const FIRST_AT = 0;
const LAST_AT = Date.UTC(2100, 0, 1);

const id = v.pipe(
	v.union([v.string(), v.number()]),
	v.transform((value) => String(value)),
);
const at = v.pipe(v.number(), v.minValue(FIRST_AT), v.maxValue(LAST_AT));
/** A number, or a decimal as text: as micro-dollars. */
const usd = v.pipe(
	v.union([
		v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_USD)),
		v.pipe(
			v.string(),
			v.check((text) => (parseMicros(text) ?? -1) >= 0),
			v.transform(Number),
		),
	]),
	v.transform((value) => Math.round(value * 1_000_000)),
);
const text = v.nullish(v.pipe(v.union([v.string(), v.number()]), v.transform(String)), "");
/** As bids read it: however it is written, it is the same one. */
const keyword = v.pipe(
	text,
	v.transform((written) => canonicalKeyword(written) ?? NO_KEYWORD),
);
const link = v.pipe(
	v.nullish(v.string(), "homepage"),
	v.transform((kind) => (kind === "deeplink" ? ("deeplink" as const) : ("homepage" as const))),
);

/** A number that cannot be read is undefined, to be told of: one campaign's fault does not lose the network. */
const price = v.pipe(
	v.optional(v.unknown(), null),
	v.transform((given): number | null | undefined => {
		const read = v.safeParse(v.nullable(usd), given);
		return read.success ? read.output : undefined;
	}),
);

const platform = v.looseObject({ id });

const publisher = v.looseObject({
	id,
	revenue_share: v.pipe(v.nullish(v.union([v.number(), v.pipe(v.string(), v.transform(Number))]), 1), v.minValue(0), v.maxValue(1)),
	pricing_model: v.nullish(v.string(), "CPA"),
});

const campaign = v.looseObject({
	id,
	platform: v.nullish(id, ""),
	epc: price,
	default_keyword_epc: price,
	keyword_epc: v.nullish(v.record(v.string(), price), {}),
});

/** A list whose faulty entries are left out, and what is wrong with each: they do not lose the others. */
function entriesOf<Schema extends v.GenericSchema>(name: string, schema: Schema) {
	return v.pipe(
		v.array(v.unknown()),
		v.transform((given) => {
			const entries: v.InferOutput<Schema>[] = [];
			const faults: string[] = [];
			for (const [at, entry] of given.entries()) {
				const read = v.safeParse(schema, entry);
				if (read.success) entries.push(read.output);
				else faults.push(`${name}.${at}${pathOf(read.issues[0])}: ${read.issues[0].message}: left out`);
			}
			return { entries, faults };
		}),
	);
}

const network = v.object({
	type: v.literal("network"),
	platforms: v.nullish(entriesOf("platforms", platform), []),
	publishers: entriesOf("publishers", publisher),
	campaigns: entriesOf("campaigns", campaign),
});

const click = v.object({
	type: v.literal("click"),
	at,
	id,
	campaign: id,
	publisher: id,
	source: text,
	keyword,
	link,
	bid: v.nullish(usd, 0),
});

const conversion = v.object({
	type: v.literal("conversion"),
	at,
	txnid: id,
	click: id,
	platform: v.nullish(id, ""),
	status: v.picklist(CALLBACK_STATUSES),
	payout: v.nullish(usd, null),
});

const prices = v.object({ type: v.literal("prices"), at, cells: v.array(v.unknown()) });

export type NetworkLine = v.InferOutput<typeof network>;
export type ClickLine = v.InferOutput<typeof click>;
export type ConversionLine = v.InferOutput<typeof conversion>;
type PricesLine = v.InferOutput<typeof prices>;
export type Line = NetworkLine | ClickLine | ConversionLine | PricesLine;

const line = v.variant("type", [network, click, conversion, prices]);

/** Reads a line. @throws Error that says what is wrong with it */
export function readLine(source: string): Line {
	const read = v.safeParse(line, JSON.parse(source));
	if (read.success) return read.output;
	const [issue] = read.issues;
	throw new Error(`${v.getDotPath(issue) ?? "the line"}: ${issue.message}`);
}

function pathOf(issue: v.BaseIssue<unknown>): string {
	const path = v.getDotPath(issue);
	return path === null ? "" : `.${path}`;
}
