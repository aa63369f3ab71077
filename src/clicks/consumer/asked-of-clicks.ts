/** What is asked of the database for a batch of clicks, each question once: pure. */
import { brandSubject, publisherSubject } from "../../lib/stop-subject.ts";
import { DAY_MS, hourOf, localDay, utcDay } from "../../lib/time.ts";
import type { ClickMessage } from "../message.ts";
import { networkOfClick, visitWindowMs } from "./batch-visits.ts";
import { sourceKey } from "./click-state.ts";
import { policyOf } from "./click-terms.ts";
import { hasCap } from "./decide-pause.ts";
import type { Facts } from "./facts.ts";
import { stopKey, stopOwnersOf } from "./stops.ts";

/** Rows without repetition. */
function distinct<Row>(rows: readonly Row[]): Row[] {
	return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}

/** Of a campaign that is not known, neither its caps nor its clocks are: the days that it may be there. */
export function campaignDaysOf(clicks: readonly ClickMessage[], { campaigns }: Facts) {
	return distinct(
		clicks.flatMap(({ campaignId, at }) => {
			const campaign = campaigns.get(campaignId);
			if (campaign === undefined) return [{ campaignId, from: utcDay(at - DAY_MS), to: utcDay(at + DAY_MS), totalOf: campaignId }];
			if (!hasCap(campaign)) return [];
			const day = localDay(campaign.timezone, at);
			return [{ campaignId, from: day, to: day, totalOf: campaign.totalBudgetMicros === null ? null : campaignId }];
		}),
	);
}

export type ConnectionTimes = Record<"publisherId" | "connection", string> & Record<"from" | "to", number>;

/** Each connection of a publisher once, with all the times around its clicks. */
export function connectionTimesOf(clicks: readonly ClickMessage[], facts: Facts): ReadonlyMap<string, ConnectionTimes> {
	const asked = new Map<string, ConnectionTimes>();
	for (const click of clicks) {
		const publisherId = facts.publishers.get(click.publisher)?.id;
		const { connection, at } = click;
		const policy = policyOf(facts, click);
		if (publisherId === undefined || connection === undefined) continue;
		if (policy.modes.repeat === "off" && policy.modes.velocity === "off") continue;
		const windowMs = visitWindowMs(policy);
		const key = `${connection} ${publisherId}`;
		const known = asked.get(key) ?? { publisherId, connection, from: at, to: at };
		asked.set(key, { ...known, from: Math.min(known.from, at - windowMs), to: Math.max(known.to, at + windowMs) });
	}
	return asked;
}

/** Whether what was asked of each connection is all that is needed. */
export function covers(asked: ReadonlyMap<string, ConnectionTimes>, needed: ReadonlyMap<string, ConnectionTimes>): boolean {
	return [...needed].every(([key, { from, to }]) => {
		const times = asked.get(key);
		return times !== undefined && times.from <= from && to <= times.to;
	});
}

export type NetworkHour = Record<"publisherId" | "network", string> & { hour: number };

export function networkHoursOf(clicks: readonly ClickMessage[], facts: Facts): NetworkHour[] {
	return distinct(
		clicks.flatMap((click) => {
			const publisherId = facts.publishers.get(click.publisher)?.id;
			const network = networkOfClick(click);
			return publisherId === undefined || network === null ? [] : [{ publisherId, network, hour: hourOf(click.at) }];
		}),
	);
}

/** Of all clicks: one that the redirect let pass may yet be found unpaid. */
export function connectionHoursOf(clicks: readonly ClickMessage[]) {
	return distinct(clicks.flatMap(({ connection, at }) => (connection === undefined ? [] : [{ connection, hour: hourOf(at) }])));
}

/** Each of them once. */
export function stopOwners(clicks: readonly ClickMessage[], facts: Facts) {
	const owners = clicks.flatMap((click) => stopOwnersOf(click, facts));
	return [...new Map(owners.map((of) => [stopKey(of), of])).values()];
}

/** Brands whose domain is not known, each with the publishers of its clicks. */
export function brandStops(clicks: readonly ClickMessage[], { publishers, domains }: Facts) {
	return distinct(
		clicks.flatMap(({ brandId, publisher }) => {
			if (domains.has(brandId)) return [];
			const publisherId = publishers.get(publisher)?.id;
			return [{ brandId, prefix: brandSubject(""), publisher: publisherId === undefined ? null : publisherSubject(publisherId) }];
		}),
	);
}

/** Those that are not known yet. */
export function sourcesOf(clicks: readonly ClickMessage[], { publishers, sources }: Facts) {
	return distinct(
		clicks.flatMap(({ publisher, at, texts }) => {
			const publisherId = publishers.get(publisher)?.id;
			const row = { publisherId, date: utcDay(at), dayBefore: utcDay(at - DAY_MS), source: texts?.subi ?? texts?.psorc ?? "" };
			return publisherId === undefined || sources.has(sourceKey(publisherId, row.date, row.source)) ? [] : [row];
		}),
	);
}
