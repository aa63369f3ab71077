import type { FeedReport } from "../../src/operator/feeds/feed-answer.ts";

/** Rejected records and domains that are listed; the others are only counted. */
const MAX_LISTED = 100;
const MAX_SHOWN = 20;

export function addReports(sum: FeedReport, part: FeedReport): FeedReport {
	return {
		...part,
		accepted: sum.accepted + part.accepted,
		rejected: sum.rejected + part.rejected,
		rejected_lines: [...sum.rejected_lines, ...part.rejected_lines].slice(0, MAX_LISTED),
		unknown_domains: [...new Set([...sum.unknown_domains, ...part.unknown_domains])].slice(0, MAX_LISTED),
		removed: part.removed ?? sum.removed,
	};
}

/** The report as text for people. */
export function describeFeed({ accepted, rejected, rejected_lines, unknown_domains, removed, dry_run }: FeedReport): string {
	const lines = [`${dry_run ? "Would be accepted" : "Accepted"}: ${accepted}`];
	if (removed !== null) lines.push(`Removed:  ${removed} that the feed no longer has`);
	if (rejected > 0) {
		const shown = rejected_lines.slice(0, MAX_SHOWN);
		lines.push(`Rejected: ${rejected}`, ...shown.map(({ line, reason }) => `  line ${line}: ${reason}`));
		if (rejected > shown.length) lines.push(`  … and ${rejected - shown.length} more`);
	}
	if (unknown_domains.length > 0) {
		lines.push(
			`No brand of the network: ${unknown_domains.slice(0, MAX_SHOWN).join(", ")}${unknown_domains.length > MAX_SHOWN ? ", …" : ""}`,
			"  Their products are found once such a brand is imported; --set domain=DOMAIN names the feed's brand.",
		);
	}
	return lines.join("\n");
}
