/**
 * Whether a click is paid: a pure decision over what is known of it, asked at the redirect (from memory and the request alone) and
 * again by the consumer (from the database, in the transaction that counts). What is not known makes no click unpaid.
 */
import { type TrafficPolicy, type TrafficRule, UNPAID_REASONS, type UnpaidReason } from "../lib/traffic-rules.ts";

/** True where something speaks against paying. Absent: not known here, or not asked. */
export type ClickFacts = Partial<Record<UnpaidReason, boolean>>;

export type Judgement = {
	/** Null where the click is paid, as far as is known here. */
	reason: UnpaidReason | null;
	/** Rules that hold and only flag. */
	flags: TrafficRule[];
};

export function judge(facts: ClickFacts, policy: TrafficPolicy): Judgement {
	let reason: UnpaidReason | null = null;
	const flags: TrafficRule[] = [];
	for (const name of UNPAID_REASONS) {
		if (facts[name] !== true) continue;
		if (!isRule(name) || policy.modes[name] === "unpaid") reason ??= name;
		else if (policy.modes[name] === "flag") flags.push(name);
	}
	return { reason, flags };
}

function isRule(reason: UnpaidReason): reason is TrafficRule {
	return reason !== "head" && reason !== "test" && reason !== "expired" && reason !== "duplicate";
}
