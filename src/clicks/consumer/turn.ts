/**
 * Transactions that count clicks take turns, but a batch that was decided before the turns of others need not be decided again: pure. It
 * stands where none of them touched what it rests on, and where what they paid for together leaves room in its budgets.
 */
import { type ClickState, campaignDayKey, type Decided, type DecidedClick, type PaidNetwork } from "./click-state.ts";
import { budgetCostOf, hasCap, type Spent } from "./decide-pause.ts";
import type { CampaignFacts } from "./facts.ts";

/** Of a batch, what others have to know, and what may not have changed since it was decided. */
export type Turn = {
	/** Names of what it changes: click hashes, connections, networks, campaigns with caps, and publishers' days that have new sources. */
	touched: string[];
	/** Names of what it rests on. */
	restsOn: string[];
	/** What it pays for: the most that it counts of any budget. */
	paid: Spent;
	/** The most that others may have paid for since. */
	room: Spent;
};

/** Beginnings of hashes that two names are told apart by. Two that are taken for one cost a batch a second decision, and nothing else. */
const NAME_LENGTH = 12;
/**
 * A campaign that has room for so many batches like this one rests on the sum of what others paid for. In another the sum would be too much
 * too soon: it rests on its name.
 */
const AMPLE_BATCHES = 20;

const hashName = (hash: string) => hash.slice(0, NAME_LENGTH);
const connectionName = (connection: string) => `c ${connection.slice(0, NAME_LENGTH)}`;
const campaignName = (campaignId: number) => `b ${campaignId}`;
const networkName = ({ publisherId, network }: PaidNetwork) => `n ${network} ${publisherId}`;
const sourcesName = (publisherId: string, date: string) => `s ${date} ${publisherId}`;

const UNBOUNDED: Spent = { clicks: Number.MAX_SAFE_INTEGER, micros: Number.MAX_SAFE_INTEGER };

export function turnOf(decided: Decided, state: Pick<ClickState, "spentOnDays" | "spentEver">): Turn {
	const names = new Set<string>();
	for (const { click } of decided.clicks) {
		names.add(hashName(click.hash));
		if (click.connection !== undefined) names.add(connectionName(click.connection));
	}
	// Of unpaid clicks that are only counted as well.
	for (const { connection } of decided.unpaid) names.add(connectionName(connection));
	for (const { publisherId, date } of decided.newSources) names.add(sourcesName(publisherId, date));
	const billed = decided.clicks.filter(({ reason }) => reason === null);
	const paid = billed.reduce(
		({ clicks, micros }, { bidMicros, grossMicros }) => ({ clicks: clicks + 1, micros: micros + Math.max(bidMicros, grossMicros) }),
		{ clicks: 0, micros: 0 },
	);
	const touched = new Set(names);
	// While half of an hour's clicks are left to a network, what others pay for at the same time does not use them up.
	for (const paidNetwork of decided.networks) {
		const { before, clickCount, most } = paidNetwork;
		touched.add(networkName(paidNetwork));
		if (2 * (before + clickCount) > most) names.add(networkName(paidNetwork));
	}
	let room = UNBOUNDED;
	for (const [campaignId, left] of roomOf(billed, state)) {
		touched.add(campaignName(campaignId));
		if (left.clicks < AMPLE_BATCHES * paid.clicks || left.micros < AMPLE_BATCHES * paid.micros) names.add(campaignName(campaignId));
		else room = least(room, left);
	}
	return { touched: [...touched], restsOn: [...names], paid, room };
}

/** What campaigns with caps have left of the tightest, once the batch is counted. */
function roomOf(billed: readonly DecidedClick[], state: Pick<ClickState, "spentOnDays" | "spentEver">): ReadonlyMap<number, Spent> {
	const clicked = new Map<number, { campaign: CampaignFacts; days: Set<string>; billed: Spent }>();
	for (const { campaign, localDay, bidMicros, grossMicros } of billed) {
		if (campaign === undefined || !hasCap(campaign)) continue;
		const { campaignId } = campaign;
		const of = clicked.get(campaignId) ?? { campaign, days: new Set(), billed: { clicks: 0, micros: 0 } };
		of.days.add(localDay);
		of.billed.clicks++;
		of.billed.micros += budgetCostOf(campaign.budgetBasis, { bidMicros, grossMicros });
		clicked.set(campaignId, of);
	}
	return new Map([...clicked].map(([campaignId, of]) => [campaignId, leftOf(of.campaign, of.days, of.billed, state)]));
}

/** @param billed on all days: too many leave less room, and never too much */
function leftOf(
	{ campaignId, dailyClickCap, dailyBudgetMicros, totalBudgetMicros }: CampaignFacts,
	days: ReadonlySet<string>,
	billed: Spent,
	{ spentOnDays, spentEver }: Pick<ClickState, "spentOnDays" | "spentEver">,
): Spent {
	let left = UNBOUNDED;
	for (const day of days) {
		const spent = spentOnDays.get(campaignDayKey(campaignId, day));
		left = least(left, {
			clicks: beyond(dailyClickCap, spent?.clicks, billed.clicks),
			micros: beyond(dailyBudgetMicros, spent?.micros, billed.micros),
		});
	}
	return least(left, { ...UNBOUNDED, micros: beyond(totalBudgetMicros, spentEver.get(campaignId)?.micros, billed.micros) });
}

function beyond(cap: number | null, spent = 0, billed = 0): number {
	return cap === null ? Number.MAX_SAFE_INTEGER : cap - spent - billed;
}

function least(one: Spent, other: Spent): Spent {
	return { clicks: Math.min(one.clicks, other.clicks), micros: Math.min(one.micros, other.micros) };
}
