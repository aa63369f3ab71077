/** What an import changes, or would, as text for people. */
import type { DifferenceAnswer, DifferenceSection, EntryChange } from "../../src/operator/network/difference-answer.ts";

const NOUNS: Readonly<Record<DifferenceSection, string>> = {
	traffic: "rules of the",
	epc_learning: "learned prices of the",
	platforms: "platform",
	publishers: "publisher",
	brands: "brand",
	campaigns: "campaign",
	exchange_rates: "exchange rate",
	products: "product",
	seller_products: "seller product",
};
const SIGNS = { added: "+", changed: "~", removed: "-" } as const;

/** Entries that are shown of an import that is done; `--json` and `--dry-run` have all that the server lists. */
const MAX_ENTRIES = 20;

/** @param isDryRun whether all of it is shown, since nothing else is */
export function describeDifference(
	{ added, changed, removed, entries, entries_left_out, ...rest }: DifferenceAnswer,
	isDryRun: boolean,
): string[] {
	const { losses, loss_count, bids } = rest;
	if (added + changed + removed === 0) return ["No difference."];
	const shown = isDryRun ? entries : entries.slice(0, MAX_ENTRIES);
	const more = entries_left_out + entries.length - shown.length;
	const lines = [
		`Difference: ${added} added, ${changed} changed, ${removed} removed.`,
		...shown.flatMap((entry) => describeEntry(entry, isDryRun)),
	];
	if (more > 0) lines.push(`  … and ${more} more`);
	if (loss_count > 0) {
		lines.push(`Turned off, cleared, shortened or removed: ${loss_count}`);
		lines.push(
			...losses.map(
				({ section, id, field, before, after }) =>
					`  ${name(section, id)}${field === null ? " is removed" : `, ${field}: ${show(before)} → ${show(after)}`}`,
			),
		);
		if (loss_count > losses.length) lines.push(`  … and ${loss_count - losses.length} more`);
	}
	if (bids.starts > 0) lines.push(`Campaigns that bid from now on: ${bids.starts} (${listed(bids.started, bids.starts)})`);
	if (bids.stops > 0) lines.push(`Campaigns that bid no more: ${bids.stops} (${listed(bids.stopped, bids.stops)})`);
	const { publishers } = bids;
	if (publishers.starts > 0)
		lines.push(`Publishers that are bid for from now on: ${publishers.starts} (${listed(publishers.started, publishers.starts)})`);
	if (publishers.stops > 0)
		lines.push(`Publishers that are bid for no more: ${publishers.stops} (${listed(publishers.stopped, publishers.stops)})`);
	if (bids.blocked > 0) lines.push(`Pairs of a publisher and a campaign that are blocked from now on: ${bids.blocked}`);
	if (bids.price_count > 0) {
		lines.push(`Warning: prices move by more than a factor of 2: ${bids.price_count}`);
		lines.push(...bids.prices.map(({ section, id, field, before, after }) => `  ${name(section, id)}, ${field}: ${before} → ${after}`));
		if (bids.price_count > bids.prices.length) lines.push(`  … and ${bids.price_count - bids.prices.length} more`);
	}
	return lines;
}

/** Of what is new, all fields are new: they are shown where nothing else is. */
export function describeEntry({ section, id, brand, kind, fields }: EntryChange, isDryRun: boolean): string[] {
	const head = `  ${SIGNS[kind]} ${name(section, id)}${brand === undefined ? "" : ` of ${brand}`}`;
	if (kind === "removed" || (kind === "added" && !isDryRun)) return [head];
	return [
		head,
		...fields.map(({ field, before, after }) => `      ${field}: ${kind === "added" ? "" : `${show(before)} → `}${show(after)}`),
	];
}

function name(section: DifferenceSection, id: string): string {
	return `${NOUNS[section]} ${id}`;
}

function show(value: unknown): string {
	return value === null ? "none" : JSON.stringify(value);
}

function listed(ids: readonly (number | string)[], count: number): string {
	return `${ids.join(", ")}${count > ids.length ? ", …" : ""}`;
}
