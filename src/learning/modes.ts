/** What learning does with what it learns. */
export const LEARNING_MODES = ["off", "advise", "automatic"] as const;
export type LearningMode = (typeof LEARNING_MODES)[number];

/**
 * The mode of a campaign's bids to a publisher: the campaign's own, else the network's; a publisher's can only restrain it. A pinned
 * campaign is advised at the most.
 */
export function effectiveMode(
	network: LearningMode,
	campaign: { mode: LearningMode | null; pinned: boolean },
	publisher: LearningMode | null,
): LearningMode {
	const ranks = [campaign.mode ?? network, publisher ?? "automatic", campaign.pinned ? "advise" : "automatic"].map((mode) =>
		LEARNING_MODES.indexOf(mode as LearningMode),
	);
	return LEARNING_MODES[Math.min(...ranks)] ?? "off";
}
