/** What changes from one state of a conversion to the next. */
import { NO_CLICK } from "./attribution.ts";
import type { Conversion, ConversionKey } from "./conversion.ts";

/** Bookkeeping that no event tells of. */
const UNTOLD = new Set<string>([
	"platform",
	"txnid",
	"eventCount",
	"firstReceivedAt",
	"updatedAt",
	"retryAt",
	"lastIntakeId",
	"approvalHashes",
	"payouts",
	"defaultCurrency",
	"clickUnseen",
	"credited",
	"version",
	"sequence",
]);

/** The fields an event tells of that are not the same, with their new values. */
export function differences(before: Conversion | null, after: Conversion): Partial<Conversion> {
	const told = Object.entries(after).filter(([name, value]) => !UNTOLD.has(name) && value !== (before?.[name as keyof Conversion] ?? null));
	return Object.fromEntries(told);
}

export function isDifferent(changes: Partial<Conversion>): boolean {
	return Object.keys(changes).length > 0;
}

/** True where nothing at all differs, bookkeeping included. */
export function isAlike(before: Conversion, after: Conversion): boolean {
	return Object.entries(after).every(([name, value]) => value === before[name as keyof Conversion]);
}

/** A conversion of which nothing is known yet. */
export function blank(key: ConversionKey, receivedAt: number): Conversion {
	return {
		...key,
		cid: "",
		stage: "waiting",
		status: "pending",
		networkStatus: null,
		statusUnknown: false,
		heldFor: null,
		verdict: null,
		test: false,
		eventAt: 0,
		payoutMicros: 0,
		salesMicros: null,
		currency: "",
		usdNanos: null,
		grossMicros: null,
		salesUsdMicros: null,
		revenueMicros: null,
		...NO_CLICK,
		s2: null,
		s3: null,
		surl: null,
		eventCount: 0,
		firstReceivedAt: receivedAt,
		updatedAt: receivedAt,
		retryAt: null,
		lastIntakeId: "",
		approvalHashes: "",
		payouts: "",
		defaultCurrency: null,
		clickUnseen: false,
		credited: false,
		version: 0,
		sequence: 0,
	};
}
