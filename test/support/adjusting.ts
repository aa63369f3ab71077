import type { AdjustmentDeps } from "../../src/adjustments/deps.ts";
import { attachConversion, detachConversion, judgeConversion } from "../../src/conversions/judge-conversion.ts";
import { revalueConversions } from "../../src/conversions/revalue-conversions.ts";
import type { Database } from "../../src/db/client.ts";
import { ACTOR } from "./actor.ts";

/** What the Worker adjusts with, on another database or clock. */
export function adjustingOn(db: Database, now: () => number = Date.now): AdjustmentDeps {
	const settling = { db, now, callbacks: undefined };
	return {
		...settling,
		actor: ACTOR,
		judge: (...word) => judgeConversion(settling, ...word),
		attach: (...word) => attachConversion(settling, ...word),
		detach: (...word) => detachConversion(settling, ...word),
		revalue: (...keys) => revalueConversions(settling, ...keys),
		onSpendChanged: async () => {},
	};
}
