/** What operators and publishers ask of lists: first pages, pages in the middle, filters that next to nothing passes, and searches by an id. */
import { behindOf, middleOf, PLATFORM } from "./stored.ts";

export type Question = {
	/** Part of the figures' names. */
	name: string;
	path: string;
	/** Records of the answer, on both sides; null where filters decide. */
	records: number | null;
	/** Body of a POST. */
	body?: unknown;
	/** Whether it must not grow, or is told alone: what filters leave out is looked at, up to a number of rows. */
	isBarred: boolean;
};

const PERIOD = "from=2026-10-01&to=2026-10-20";
/** From this many clicks on every page is full. Of fewer a page may be shorter than that of ten times as many, and its ratio says nothing. */
const FULL_FROM = 160_000;
const pagesOf = (clicks: number) => {
	const isFull = clicks >= FULL_FROM;
	return (name: string, path: string): Question => ({ name, path, records: isFull ? 100 : null, isBarred: isFull });
};
const filtered = (name: string, path: string): Question => ({ name, path, records: null, isBarred: false });
const search = (name: string, path: string, records: number | null = 1): Question => ({ name, path, records, isBarred: true });

/** By the holder of OPERATOR_KEY. */
export function operatorQuestions(clicks: number): Question[] {
	const middle = middleOf(clicks);
	const page = pagesOf(clicks);
	const one = `/operator/conversions/${PLATFORM}/${middle.txnid}`;
	return [
		page("conversions", "/operator/conversions"),
		page("conversions.behind", `/operator/conversions?to=${new Date(behindOf(clicks)).toISOString()}`),
		page("conversions.unmatched", "/operator/conversions?stage=unmatched"),
		page("conversions.publisher", "/operator/conversions?publisher=p1"),
		filtered("conversions.cancelled", "/operator/conversions?status=cancelled"),
		filtered("conversions.brand", "/operator/conversions?brand=brand-000007.example"),
		search("conversion", one, null),
		search("conversion.clicks", `${one}/clicks?click=${middle.hash}`),
		{ ...search("trace", "/operator/trace", null), body: { id: middle.hash } },
		{ ...search("trace.txnid", "/operator/trace", null), body: { id: middle.txnid } },
		page("clicks", "/operator/clicks"),
		page("clicks.publisher", "/operator/clicks?publisher=p1"),
		filtered("clicks.rare", "/operator/clicks?reason=over_cap"),
		search("click.click_id", `/operator/clicks?id=${middle.clickId}`, null),
		search("click.hash", `/operator/clicks?id=${middle.hash}`),
		page("audit", "/operator/audit"),
		page("audit.actor", "/operator/audit?actor=person-1"),
		page("audit.subject", "/operator/audit?subject=subject-7"),
		filtered("audit.both", "/operator/audit?subject=subject-7&actor=rare"),
		filtered("audit.kind", "/operator/audit?subject_kind=exchange_rate"),
		page("brands", "/operator/brands"),
		filtered("brands.text", "/operator/brands?text=nowhere"),
		search("brand", `/operator/brands/${middle.brand}`, null),
		page("campaigns", "/operator/campaigns"),
		page("callbacks", "/operator/callbacks?limit=100"),
		filtered("callbacks.no_url", "/operator/callbacks?state=no_url"),
		search("callback", `/operator/callbacks?txnid=${middle.txnid}`),
		filtered("problems", "/operator/problems/postbacks"),
	];
}

/** By the first publisher, or one of its like. */
export function publisherQuestions(clicks: number): Question[] {
	const middle = middleOf(clicks);
	const page = pagesOf(clicks);
	return [
		page("own_clicks", `/api/clicks?${PERIOD}`),
		page("own_clicks.unpaid", `/api/clicks?${PERIOD}&reason=repeat`),
		filtered("own_clicks.rare", `/api/clicks?${PERIOD}&reason=over_cap`),
		search("own_click.click_id", `/api/clicks?id=${middle.clickId}`),
		search("own_click.hash", `/api/clicks?id=${middle.hash}`),
		search("own_click.id", `/api/clicks?id=${middle.id}`),
		page("own_conversions", `/api/conversions?${PERIOD}`),
		filtered("own_conversions.brand", `/api/conversions?${PERIOD}&brand=brand-000007.example`),
		search("own_conversion.txnid", `/api/conversions?id=${middle.txnid}`),
		search("own_conversion.click_id", `/api/conversions?id=${middle.clickId}`),
		page("own_callbacks", "/api/callbacks"),
		page("own_brands", "/api/brands"),
		filtered("own_brands.text", "/api/brands?q=nowhere"),
		page("own_changes", "/api/conversions/changes"),
		page("own_brand_changes", "/api/brands/changes"),
	];
}
