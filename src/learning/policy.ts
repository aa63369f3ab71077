/** What operators say of learning, as it is stored of the network, its publishers, campaigns and platforms, and what holds by it. */
import { type Curve, DEFAULT_CURVES, type DelayCurves, readStatedCurve, type StatedCurve } from "./delay-curve.ts";
import { effectiveMode, type LearningMode } from "./modes.ts";
import { DEFAULT_SETTINGS, type Kappa, type LearningSettings } from "./settings.ts";

/** What the whole network sets: all of it optional, the defaults fill in. Without a mode nothing is learned. */
export type NetworkLearning = { mode?: LearningMode; kappa?: Partial<Kappa> } & Partial<
	Pick<LearningSettings, "lowestFactor" | "highestFactor" | "rise" | "fall" | "publishStep" | "allowanceMicros" | "caution" | "creep">
>;

/** What one publisher sets: a mode above which no bid to it goes. */
export type PublisherLearning = { mode?: LearningMode };

/** Levels that a campaign's own clicks are alone in. */
type CampaignKappa = Pick<Kappa, "campaign" | "keyword" | "campaignPublisher">;

/** What one campaign sets: the network fills in. */
export type CampaignLearning = { mode?: LearningMode; pin?: true; kappa?: Partial<CampaignKappa> } & Partial<
	Pick<LearningSettings, "lowestFactor" | "highestFactor" | "allowanceMicros" | "creep">
>;

/** What is known of a platform's delays before its conversions tell: what has arrived of all that will, and what is taken back of it. */
export type PlatformLearning = { arrivals?: StatedCurve; reversals?: StatedCurve };

/** What holds of a campaign. */
export type CampaignPolicy = { mode: LearningMode; settings: LearningSettings };

/** A stored column; null where nothing is set. */
export function readLearning<Settings extends NetworkLearning | PublisherLearning | CampaignLearning | PlatformLearning>(
	json: string | null,
): Settings | null {
	return json === null ? null : (JSON.parse(json) as Settings);
}

/** What holds where a campaign says nothing of its own. */
export function networkSettings(network: NetworkLearning | null): LearningSettings {
	const { mode: _, kappa, ...settings } = network ?? {};
	return { ...DEFAULT_SETTINGS, ...settings, kappa: { ...DEFAULT_SETTINGS.kappa, ...kappa } };
}

/** What holds of a campaign, whoever is bid to: its own settings over those of the network, over the defaults. */
export function campaignPolicy(network: NetworkLearning | null, campaign: CampaignLearning | null): CampaignPolicy {
	const shared = networkSettings(network);
	const { mode: _mode, pin: _pin, kappa, ...settings } = campaign ?? {};
	return { mode: bidMode(network, campaign, null), settings: { ...shared, ...settings, kappa: { ...shared.kappa, ...kappa } } };
}

/** The mode of a campaign's bids to a publisher; of those to publishers who set none where it is null. */
export function bidMode(
	network: NetworkLearning | null,
	campaign: CampaignLearning | null,
	publisher: PublisherLearning | null,
): LearningMode {
	return effectiveMode(network?.mode ?? "off", { mode: campaign?.mode ?? null, pinned: campaign?.pin === true }, publisher?.mode ?? null);
}

/** The curves that a platform's conversions are first read by: those that the operator has stated, else the default ones. */
export function priorCurves(platform: PlatformLearning | null): DelayCurves {
	const { arrivals, reversals } = platform ?? {};
	const stated: Curve | null = reversals === undefined ? null : readStatedCurve(reversals, reversals.at(-1)?.part ?? 0);
	return {
		arrivals: arrivals === undefined ? DEFAULT_CURVES.arrivals : readStatedCurve(arrivals),
		reversals: stated ?? DEFAULT_CURVES.reversals,
		reversedByNow: stated ?? DEFAULT_CURVES.reversedByNow,
	};
}
