/** Runs mixed traffic through the decisions that the service makes: at the redirect, and in the consumer over batches as they arrive. */
import { BID_PAY_MS } from "../../src/campaign-book/book.ts";
import { type ClickFacts, judge } from "../../src/clicks/payable.ts";
import { readNetworkFacts, readRequestFacts } from "../../src/clicks/request-facts.ts";
import { deviceOf, isOtherDevice } from "../../src/lib/device.ts";
import { connectionOf, splitConnection } from "../../src/lib/ip.ts";
import { DEFAULT_POLICY, type TrafficPolicy, type UnpaidReason } from "../../src/lib/traffic-rules.ts";
import { click as clickMessage, DecidedLedger, facts } from "../support/click-decisions.ts";
import { type Actor, type TrafficClick, WORTHLESS } from "./mixed-traffic.ts";

const BATCH = 4_000;

export type TrafficVerdict = {
	/** Of people's visits, how many are paid; of their clicks, the repeated ones among them. */
	visitsPaid: number;
	clicksPaid: number;
	/** Of what is paid, how much is a person's visit: all traffic, and without farms behind residential proxies. */
	precision: number;
	precisionWithoutProxies: number;
	/** Of the clicks of each actor that is worth nothing, how many are not paid. */
	unpaid: Record<(typeof WORTHLESS)[number], number>;
	/** Why people's visits are not paid: reason → share of them. */
	lost: Record<string, number>;
};

/** @param traffic in the order of its clicks */
export function judgeTraffic(traffic: readonly TrafficClick[], policy: TrafficPolicy = DEFAULT_POLICY): TrafficVerdict {
	const ledger = new DecidedLedger(facts({ traffic: policy }));
	const reasons = new Map<string, UnpaidReason | null>();
	for (let from = 0; from < traffic.length; from += BATCH) {
		const batch = traffic.slice(from, from + BATCH).map((click, at) => toMessage(click, String(from + at), policy));
		for (const { click, reason } of ledger.take(batch).clicks) reasons.set(click.id, reason);
	}
	// What is not stored is unpaid.
	const isPaid = (_: TrafficClick, at: number) => reasons.get(idOf(String(at))) === null;
	return tally(traffic, traffic.map(isPaid), (at) => reasons.get(idOf(String(at))) ?? "not stored");
}

const idOf = (name: string) => `click-${name.padStart(8, "0")}`;

function toMessage(click: TrafficClick, name: string, policy: TrafficPolicy) {
	const { bid, address, userAgent, method, at, brandId } = click;
	const headers = new Headers(click.headers);
	const request = { headers, cf: { asn: click.asn } } as unknown as Request;
	const asked = bid === null ? null : deviceOf(bid.address, bid.userAgent);
	const device = deviceOf(address, userAgent);
	const known: ClickFacts = {
		...readRequestFacts(method, headers, userAgent, { url: "https://click.example/click" }),
		...readNetworkFacts(request, headers, "US", policy),
		expired: bid !== null && at - bid.at > BID_PAY_MS,
		other_device: asked !== null && device !== null && isOtherDevice(asked, device),
	};
	const { reason, flags } = judge(known, policy);
	const connection = connectionOf(address);
	const place = connection === null ? null : splitConnection(connection);
	return clickMessage({
		id: idOf(name),
		at,
		brandId,
		hash: bid === null ? `link-${name}` : `bid-${bid.auction}`,
		kind: bid === null ? "link" : "openrtb",
		flags,
		...(reason !== null && { reason }),
		...(place !== null && { connection: place.site, ...(place.network !== "" && { network: place.network }) }),
		...(userAgent !== null && { userAgentHash: userAgent }),
	});
}

function tally(traffic: readonly TrafficClick[], paid: readonly boolean[], reasonOf: (at: number) => string): TrafficVerdict {
	const all = traffic.map((click, at) => ({ ...click, isPaid: paid[at] === true, reason: paid[at] === true ? null : reasonOf(at) }));
	const share = (some: number, of: number) => (of === 0 ? Number.NaN : some / of);
	const paidOf = (clicks: readonly { isPaid: boolean }[]) => clicks.filter(({ isPaid }) => isPaid).length;
	const clicks = all.filter(({ worth }) => worth !== "nothing");
	const visits = all.filter(({ worth }) => worth === "visit");
	const paidClicks = all.filter(({ isPaid }) => isPaid);
	const precisionOf = (some: readonly TrafficClick[]) => share(some.filter(({ worth }) => worth === "visit").length, some.length);
	const unpaidOf = (actor: Actor) => {
		const own = all.filter((click) => click.actor === actor && click.worth === "nothing");
		return share(own.length - paidOf(own), own.length);
	};
	const lost = Map.groupBy(
		visits.filter(({ isPaid }) => !isPaid),
		({ reason }) => reason ?? "",
	);
	return {
		visitsPaid: share(paidOf(visits), visits.length),
		clicksPaid: share(paidOf(clicks), clicks.length),
		precision: precisionOf(paidClicks),
		precisionWithoutProxies: precisionOf(paidClicks.filter(({ actor }) => actor !== "proxied_farm")),
		unpaid: Object.fromEntries(WORTHLESS.map((actor) => [actor, unpaidOf(actor)])) as TrafficVerdict["unpaid"],
		lost: Object.fromEntries([...lost].map(([reason, of]) => [reason, share(of.length, visits.length)])),
	};
}
