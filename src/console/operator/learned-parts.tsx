/** What pages of learned prices share. */
import type { Evidence } from "../../operator/learning/learning-answers.ts";
import type { Column } from "../ui/table.tsx";
import { Count, Money, Percent } from "../ui/values.tsx";

export const LEARNING_PATH = "/console/operator/learning";

export function pricesPath(campaign: number | string): string {
	return `/console/operator/campaigns/${campaign}/prices`;
}

/** A class of keywords in words. */
export function keywordWords(keyword: string | null): string {
	if (keyword === null) return "without a keyword";
	if (keyword === "*") return "any keyword";
	return keyword === "*listed" ? "listed keywords" : keyword;
}

/** What a factor was made of. */
export function evidenceColumns<Row>(of: (row: Row) => Evidence | null): Column<Row>[] {
	return [
		{ head: "Factor", kind: "number", cell: (row) => of(row)?.factor ?? null },
		{ head: "Clicks", kind: "number", cell: (row) => <Count of={rounded(of(row)?.clicks)} /> },
		{ head: "Expected", kind: "money", cell: (row) => <Money usd={of(row)?.expected} /> },
		{ head: "Earned", kind: "money", cell: (row) => <Money usd={of(row)?.earned} /> },
		{ head: "Conversions", kind: "number", cell: (row) => conversions(of(row)) },
		{ head: "Weight", kind: "number", cell: (row) => <Percent of={of(row)?.weight} /> },
		{ head: "Known", kind: "number", cell: (row) => <Percent of={of(row)?.maturity} /> },
	];
}

function rounded(value: number | undefined): number | null {
	return value === undefined ? null : Math.round(value);
}

function conversions(evidence: Evidence | null): string | null {
	return evidence === null ? null : `${evidence.earned_conversions} of ${evidence.expected_conversions}`;
}
