/**
 * Rules on which clicks are paid, as the network file sets them for the network, a publisher or a campaign (`traffic`): the closed
 * list of rules, their modes and thresholds, and how the three are laid over each other.
 */

/**
 * Why a click is not paid: the closed list, in the order in which the first that holds names the reason. What no user has seen comes
 * first, whatever called: its conversions are reviewed. `head`, `test`, `expired` and `duplicate` are facts that no setting changes.
 */
export const UNPAID_REASONS = [
	"prefetch",
	"embedded",
	"head",
	"no_user_agent",
	"bot",
	"test",
	"expired",
	"publisher_suspended",
	"campaign_stopped",
	"brand_stopped",
	"blocked",
	"country",
	"data_centre",
	"other_device",
	"duplicate",
	"repeat",
	"velocity",
	"over_cap",
	"over_budget",
] as const;
/** Why a stored click is not paid; `voided`: it was, until an adjustment took it back. */
export const CLICK_REASONS = [...UNPAID_REASONS, "voided"] as const;
export type UnpaidReason = (typeof UNPAID_REASONS)[number];

/** Whether a page that its user never saw called the link: how cookies are stuffed. */
export function isUnseen(reason: string | null): boolean {
	return reason === "embedded" || reason === "prefetch";
}

/** Reasons that hold from a moment on, until what has stopped is active again. */
export const STOP_REASONS = [
	"publisher_suspended",
	"campaign_stopped",
	"brand_stopped",
	"blocked",
] as const satisfies readonly UnpaidReason[];
export type StopReason = (typeof STOP_REASONS)[number];

/** Rules that may be switched. */
export const TRAFFIC_RULES = [
	"prefetch",
	"no_user_agent",
	"bot",
	"embedded",
	"publisher_suspended",
	"campaign_stopped",
	"brand_stopped",
	"blocked",
	"country",
	"data_centre",
	"other_device",
	"repeat",
	"velocity",
	"over_cap",
	"over_budget",
] as const satisfies readonly UnpaidReason[];
export type TrafficRule = (typeof TRAFFIC_RULES)[number];

/** `off`: not asked. `flag`: noted with the click, which is paid. `unpaid`: the click is not paid. */
export const TRAFFIC_MODES = ["off", "flag", "unpaid"] as const;
export type TrafficMode = (typeof TRAFFIC_MODES)[number];

type Thresholds = {
	/** `repeat`: minutes around a paid click in which the same visitor's others are repeats. */
	repeatMinutes: number;
	/** `velocity`: paid clicks of one visitor in any hour. */
	visitorPerHour: number;
	/** `velocity`: paid clicks from one address in any hour. */
	addressPerHour: number;
	/** `velocity`: paid clicks from one IPv6 network of 48 bits in an hour of the clock. */
	networkPerHour: number;
	/** `data_centre`: networks beside the default list. */
	asns: readonly number[];
	/** `data_centre`: whether the default list counts. */
	useDefaultList: boolean;
};

/** What one level sets: all of it optional, the level above fills in. */
export type TrafficSettings = { modes?: Partial<Record<TrafficRule, TrafficMode>> } & Partial<Thresholds>;

export type TrafficPolicy = { modes: Readonly<Record<TrafficRule, TrafficMode>> } & Readonly<Thresholds>;

export const DEFAULT_POLICY: TrafficPolicy = {
	modes: {
		...(Object.fromEntries(TRAFFIC_RULES.map((rule) => [rule, "unpaid"])) as Record<TrafficRule, TrafficMode>),
		other_device: "flag",
	},
	repeatMinutes: 60,
	visitorPerHour: 20,
	addressPerHour: 120,
	networkPerHour: 1_200,
	asns: [],
	useDefaultList: true,
};

/** The policy of a click: each level's settings over those of the one before (network, publisher, campaign). */
export function layPolicies(base: TrafficPolicy, ...levels: readonly (TrafficSettings | null)[]): TrafficPolicy {
	let policy = base;
	for (const settings of levels) {
		if (settings === null) continue;
		const { modes, ...thresholds } = settings;
		policy = { ...policy, ...thresholds, modes: modes === undefined ? policy.modes : { ...policy.modes, ...modes } };
	}
	return policy;
}
