/** Categories of advertisers that an auction takes or blocks (`bcat`, `acat`), against those that a brand has. */
import type { CategoryLists } from "../openrtb/read-options.ts";

export type CategoryRule = {
	/** `cattax`: whose the names are. */
	taxonomy: number;
	blocked: ReadonlySet<string>;
	/** Null for all. */
	allowed: ReadonlySet<string> | null;
	/** What the rule says of categories that were asked for: thousands of brands have the same few. */
	said: Map<string, Said>;
};

/** Of a category: of another taxonomy, on the list of what is blocked, not on that of what is allowed, or none of these. */
type Said = "other" | "blocked" | "unnamed" | "accepted";

/** The one whose names are `IAB22` and below it `IAB22-1`; others have none that tell what is below what. */
export const FIRST_TAXONOMY = 1;

/** Null where the lists say nothing. */
export function readCategoryRule({ taxonomy, blocked, allowed }: CategoryLists): CategoryRule | null {
	if (blocked.length === 0 && allowed.length === 0) return null;
	return { taxonomy, blocked: namesOf(blocked), allowed: allowed.length === 0 ? null : namesOf(allowed), said: new Map() };
}

function namesOf(entries: readonly string[]): ReadonlySet<string> {
	return new Set(entries.map((entry) => entry.trim().toUpperCase()));
}

/** Those of a brand's categories that are of a taxonomy. @param categories as the network file has them */
export function categoriesIn(categories: readonly string[], taxonomy: number): string[] {
	return categories.flatMap((category) => {
		const at = category.indexOf(":");
		const of = at === -1 ? FIRST_TAXONOMY : Number(category.slice(0, at));
		return of === taxonomy ? [category.slice(at + 1)] : [];
	});
}

/**
 * Whether an auction takes a brand: none of its categories is blocked, and where only some are allowed it has some and all of them are. Who
 * names a category of the first taxonomy names those below it, too.
 */
export function isCategoryAccepted(categories: readonly string[], rule: CategoryRule): boolean {
	let isOfAny = false;
	for (const category of categories) {
		let said = rule.said.get(category);
		if (said === undefined) {
			said = judge(category, rule);
			rule.said.set(category, said);
		}
		if (said === "blocked" || said === "unnamed") return false;
		isOfAny ||= said === "accepted";
	}
	return rule.allowed === null || isOfAny;
}

function judge(category: string, { taxonomy, blocked, allowed }: CategoryRule): Said {
	const [name] = categoriesIn([category], taxonomy);
	if (name === undefined) return "other";
	if (isNamed(name, blocked)) return "blocked";
	return allowed === null || isNamed(name, allowed) ? "accepted" : "unnamed";
}

function isNamed(name: string, names: ReadonlySet<string>): boolean {
	if (names.has(name)) return true;
	const at = name.indexOf("-");
	return at !== -1 && name.startsWith("IAB") && names.has(name.slice(0, at));
}
