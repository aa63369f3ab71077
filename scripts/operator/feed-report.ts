import type { FeedReport } from "../../src/operator/feeds/feed-answer.ts";

/** Rejected records and domains that are listed; the others are only counted. */
const MAX_LISTED = 100;
const MAX_SHOWN = 20;

export function addReports(sum: FeedReport, part: FeedReport): FeedReport {
	const [before, added] = [sum.unread_characters, part.unread_characters];
	const unread = before && added ? { ...before, products: before.products + added.products } : (before ?? added);
	const others = addOthers(sum.other_brands ?? [], part.other_brands ?? []);
	return {
		...part,
		accepted: sum.accepted + part.accepted,
		rejected: sum.rejected + part.rejected,
		rejected_lines: [...sum.rejected_lines, ...part.rejected_lines].slice(0, MAX_LISTED),
		unknown_domains: [...new Set([...sum.unknown_domains, ...part.unknown_domains])].slice(0, MAX_LISTED),
		...(others.length > 0 && { other_brands: others }),
		...(unread !== undefined && { unread_characters: unread }),
		...((sum.cut_off || part.cut_off) && { cut_off: true }),
		removed: part.removed ?? sum.removed,
	};
}

type OtherBrands = NonNullable<FeedReport["other_brands"]>;

function addOthers(sum: OtherBrands, part: OtherBrands): OtherBrands {
	const products = new Map(sum.map((other) => [other.domain, other.products]));
	for (const other of part) products.set(other.domain, (products.get(other.domain) ?? 0) + other.products);
	return [...products].slice(0, MAX_SHOWN).map(([domain, count]) => ({ domain, products: count }));
}

/** The report as text for people. */
export function describeFeed(report: FeedReport): string {
	const {
		accepted,
		rejected,
		rejected_lines,
		unknown_domains,
		other_brands: others = [],
		unread_characters: unread,
		removed,
		dry_run,
	} = report;
	const lines = [`${dry_run ? "Would be accepted" : "Accepted"}: ${accepted}`];
	if (removed !== null) lines.push(`Removed:  ${removed} that the feed no longer has`);
	if (rejected > 0) {
		const shown = rejected_lines.slice(0, MAX_SHOWN);
		lines.push(`Rejected: ${rejected}`, ...shown.map(({ line, reason }) => `  line ${line}: ${reason}`));
		if (rejected > shown.length) lines.push(`  … and ${rejected - shown.length} more`);
	}
	if (unread !== undefined) {
		lines.push(
			`With characters that could not be read: ${unread.products}, the first on line ${unread.line}`,
			"  They are kept as \ufffd: send the feed again with what it is in, such as --encoding windows-1252.",
		);
	}
	if (others.length > 0) {
		lines.push(
			`In the place of other brands' products of the same ids: ${others.map(({ domain, products }) => `${products} of ${domain}`).join(", ")}`,
			"  --id-prefix keeps ids of feeds apart: send this one with it, then those brands' feeds again.",
		);
	}
	if (unknown_domains.length > 0) {
		lines.push(
			`No brand of the network: ${unknown_domains.slice(0, MAX_SHOWN).join(", ")}${unknown_domains.length > MAX_SHOWN ? ", …" : ""}`,
			"  Their products are found once such a brand is imported; --set domain=DOMAIN names the feed's brand.",
		);
	}
	return lines.join("\n");
}
