import type * as v from "valibot";
import { counted } from "../../../src/lib/counted.ts";
import { type EntrySection, entryPageSchema } from "../../../src/operator/network/entry-answers.ts";
import { brandSchema, campaignSchema, platformSchema, publisherSchema } from "../../../src/operator/network/network-file.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { eachOnce } from "../each-once.ts";
import { type Entry, fetchEntry, KINDS, pathOf, readValue, sectionOf } from "../entries.ts";
import { namesOf, parametersOf } from "../option-names.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { sayNone } from "../say-none.ts";
import { type ChangeOptions, sendChange, withChangeOptions } from "../send-change.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

const FILTERS = ["text", "active", "status", "blocks", "brand", "category", "platform", "country"] as const;

type ListOptions = ServerOptions & { limit: string } & Partial<Record<(typeof FILTERS)[number], string>>;

const FIELDS: Readonly<Record<EntrySection, Readonly<Record<string, v.GenericSchema>>>> = {
	platforms: platformSchema.entries,
	publishers: publisherSchema.entries,
	brands: brandSchema.entries,
	campaigns: campaignSchema.entries,
};

/** `show`, `list` and `set`: entries of the network file, one by one. */
export const command: OperatorCommand = {
	name: "entries",
	add(program) {
		withServerOptions(program.command("show"))
			.description("show an entry of the network file as it stands")
			.argument("<kind>", KINDS)
			.argument("<id>", "its id; of a brand, its domain")
			.action(async (kind: string, id: string, options: ServerOptions) => {
				const { entry } = await fetchEntry(sectionOf(kind), id, options);
				console.log(JSON.stringify(entry, null, 2));
			});
		withServerOptions(program.command("list"))
			.description("list platforms, publishers, brands or campaigns")
			.argument("<kinds>", KINDS)
			.option("--limit <number>", "at most this many", "100")
			.option("--text <text>", "with this in the name (not of campaigns)")
			.option("--active <true|false>", "brands and campaigns that are, or are not")
			.option("--status <status>", "publishers: active or suspended")
			.option("--blocks <domain>", "publishers for whom this brand is blocked")
			.option("--brand <domain>", "campaigns of this brand")
			.option("--category <category>", "brands of this category")
			.option("--platform <id>", "campaigns of this platform")
			.option("--country <code>", "campaigns in this country")
			.action(list);
		withChangeOptions(program.command("set"))
			.description("change fields of an entry: what is not named stays")
			.argument("<kind>", KINDS)
			.argument("<id>", "its id; of a brand, its domain")
			.argument("<field=value...>", 'such as commission_rate="7% CPS"; lists and objects as JSON; nothing, or null, clears')
			.addHelpText(
				"after",
				'\nExamples:\n  set campaign 9001 commission_rate="7% CPS" daily_click_cap=500\n  set publisher acme-media callback_url=',
			)
			.action((kind: string, id: string, assignments: string[], options: ChangeOptions) => {
				const section = sectionOf(kind);
				return sendChange(pathOf(section, id), fieldsOf(section, assignments), options, { method: "PATCH" });
			});
	},
};

function fieldsOf(section: EntrySection, assignments: readonly string[]): Record<string, unknown> {
	return eachOnce(
		assignments.map((assignment) => {
			const at = assignment.indexOf("=");
			if (at < 1) throw new Failure(`${JSON.stringify(assignment)} must be a field and its value: commission_rate="7% CPS"`);
			const field = assignment.slice(0, at);
			const schema = Object.hasOwn(FIELDS[section], field) ? FIELDS[section][field] : undefined;
			return [field, readValue(schema, assignment.slice(at + 1))];
		}),
		"The field",
	);
}

/** Asks for pages until there are as many as are wanted, or no more. */
async function list(kind: string, options: ListOptions): Promise<void> {
	const section = sectionOf(kind);
	const wanted = Number(options.limit);
	if (!Number.isSafeInteger(wanted) || wanted < 1)
		throw new Failure(`--limit is ${JSON.stringify(options.limit)}, but must be a whole number, 1 or more.`);
	const filters = Object.entries(parametersOf(FILTERS, options));
	const names = namesOf([...FILTERS, "limit"]);
	const found: Entry[] = [];
	let cursor: string | null = null;
	do {
		const query: string = new URLSearchParams([
			...filters,
			["limit", String(Math.min(1_000, wanted - found.length))],
			...(cursor === null ? [] : [["cursor", cursor]]),
		]).toString();
		const page = take(entryPageSchema, await callOperator(targetOf(options), `/operator/${section}?${query}`, null), { names });
		found.push(...page.data);
		cursor = page.next_cursor;
	} while (cursor !== null && found.length < wanted);
	if (options.json) console.log(JSON.stringify({ data: found, next_cursor: cursor }, null, 2));
	if (found.length === 0) await refuseUnknown(options, options);
	if (options.json) return;
	console.log(found.length === 0 ? sayNone(section, FILTERS, options) : found.map((entry) => LINES[section](entry)).join("\n"));
	if (cursor !== null) console.log("There are more: --limit shows them.");
}

const LINES: Readonly<Record<EntrySection, (entry: Entry) => string>> = {
	platforms: ({ id, name, currency }) => `${id}  ${name}  ${currency}`,
	publishers: ({ id, name, status, pricing_model, revenue_share }) => `${id}  ${name}  ${status}  ${pricing_model} ${revenue_share}`,
	brands: ({ domain, name, active, campaigns }) =>
		`${domain}  ${name}  ${active ? "active" : "inactive"}  ${counted(Array.isArray(campaigns) ? campaigns.length : 0, "campaign")}`,
	campaigns: ({ campaign_id, brand, platform, country, active, epc, commission_rate }) =>
		[campaign_id, brand, platform, country, active ? "active" : "inactive", epc, commission_rate]
			.filter((cell) => cell !== null && cell !== undefined)
			.join("  "),
};
