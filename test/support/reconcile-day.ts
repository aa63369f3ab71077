import { comparePublishers, type Difference } from "../../src/reconcile/compare-sums.ts";
import { FIRST_PART, type Part } from "../../src/reconcile/parts.ts";
import { readPublishers } from "../../src/reconcile/read-sums.ts";
import { type ReconcileDeps, reconcilePart } from "../../src/reconcile/reconcile-sums.ts";

/** Compares all parts of a day. @returns what differs */
export async function reconcileDay(deps: ReconcileDeps, day: string): Promise<Difference[]> {
	const differences: Difference[] = [];
	for (let part: Part | null = FIRST_PART; part !== null; ) {
		const result: Awaited<ReturnType<typeof reconcilePart>> = await reconcilePart(deps, day, part, false);
		differences.push(...result.differences);
		part = result.next;
	}
	return differences;
}

/** What differs of all publishers' day, with the version that a repair asks for. */
export async function lookAtPublishers({ db }: Pick<ReconcileDeps, "db">, day: string) {
	const { version, state } = await readPublishers(db, day, { after: "", upTo: null });
	return { version, state, differences: comparePublishers(state) };
}
