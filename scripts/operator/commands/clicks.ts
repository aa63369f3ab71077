import { type ClickPage, clickPageSchema } from "../../../src/operator/clicks/clicks-answer.ts";
import { Failure } from "../../local/failure.ts";
import { REASONS } from "../click-reasons.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { sayNone } from "../say-none.ts";

const FILTERS = {
	id: "of this id: the click's, its hash, or the publisher's click id",
	publisher: "of this publisher (its id in the network file)",
	source: "of this source: subi, else psorc",
	brand: "of this brand (its domain)",
	campaign: "of this campaign",
	platform: "whose campaign was this platform's",
	country: "whose campaign is of this country",
	kind: "openrtb, serving-engine or link",
	reason: "paid, unpaid, or why it is not paid: bot, repeat, over_cap …",
	from: "clicked at or after this time or UTC date",
	to: "clicked before this time; a date is included",
	limit: "clicks a page, at most 1000",
	cursor: "where the page before ended",
} as const;
type Filter = keyof typeof FILTERS;
const NAMED = Object.keys(FILTERS) as Filter[];

/** `clicks list`: clicks of the network, paid or not. */
export const command: OperatorCommand = {
	name: "clicks",
	add(program) {
		const clicks = program.command("clicks").description("list clicks, paid or not, and why; `trace` has all of one");
		const listing = withServerOptions(clicks.command("list")).description("list clicks, the newest first");
		for (const [name, description] of Object.entries(FILTERS)) listing.option(`--${name} <${name}>`, description);
		listing.action(list);
	},
};

async function list(options: ServerOptions & Partial<Record<Filter, string>>): Promise<void> {
	const page = await readPage(options, "/operator/clicks", NAMED, clickPageSchema);
	if (options.json) console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) await refuseMissing(page, options);
	if (options.json) return;
	for (const click of page.data) console.log(describeClick(click));
	if (page.data.length === 0)
		console.log(page.next_cursor === null ? sayNone("clicks", NAMED, options) : "None among those that were looked at.");
	if (page.next_cursor !== null) console.log(`There may be more: --cursor ${page.next_cursor}`);
}

/** What is named should be there. @throws Failure where it is not */
async function refuseMissing(
	{ next_cursor }: ClickPage,
	{ id, ...options }: ServerOptions & Partial<Record<Filter, string>>,
): Promise<void> {
	await refuseUnknown(options, options);
	if (id === undefined || next_cursor !== null || options.cursor !== undefined) return;
	throw new Failure(`There is no click ${id} in this selection. \`trace ${id}\` says what is known of it.`);
}

/** @example "2026-11-21T09:00:00.000Z  0b7e…  acme-media  shoes.example 9001 US  openrtb  source news  from 203.0.113.0/24  bid 0.3000 USD, earned 0.2400 USD" */
function describeClick(click: ClickPage["data"][number]): string {
	const { clicked_at, click_hash, publisher, brand, campaign_id, country, kind, source_id, address_prefix } = click;
	const { reason, bid, revenue, pricing_model } = click;
	const place = [brand ?? "no brand", String(campaign_id), ...(country === null ? [] : [country])].join(" ");
	const earned = `earned ${revenue} USD${pricing_model === "CPA" ? " (CPA: conversions are paid)" : ""}`;
	const judged = `bid ${bid} USD, ${reason === null ? earned : `unpaid: ${REASONS[reason]}`}`;
	const source = source_id === null || source_id === "" ? [] : [`source ${source_id}`];
	const network = address_prefix === null ? [] : [`from ${address_prefix}`];
	return [clicked_at, click_hash, publisher ?? "nobody", place, kind, ...source, ...network, judged].join("  ");
}
