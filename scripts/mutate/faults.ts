import type { Fault } from "./fault.ts";
import { BIDDING_FAULTS } from "./faults/bidding.ts";
import { CLICK_FAULTS } from "./faults/clicks.ts";
import { CONVERSION_FAULTS } from "./faults/conversions.ts";
import { DESK_FAULTS } from "./faults/desk.ts";
import { LEARNING_FAULTS } from "./faults/learning.ts";
import { LIB_FAULTS } from "./faults/lib.ts";
import { ORIGIN_FAULTS } from "./faults/origin.ts";
import { PRIVACY_FAULTS } from "./faults/privacy.ts";

/** The mutation list. test/unit/scripts/faults.test.ts holds that each of them can still be put into src/. */
export const FAULTS: readonly Fault[] = [
	...BIDDING_FAULTS,
	...PRIVACY_FAULTS,
	...CLICK_FAULTS,
	...CONVERSION_FAULTS,
	...ORIGIN_FAULTS,
	...DESK_FAULTS,
	...LEARNING_FAULTS,
	...LIB_FAULTS,
];
