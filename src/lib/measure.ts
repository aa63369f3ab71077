import { logError } from "./log.ts";

/**
 * Data points for Analytics Engine: a contract with the operator's queries, so columns only ever get added.
 *
 * index1 publisher (identity, or id where only that is known; empty where it is unknown) · blob1 event · blob2 outcome: a reason,
 * a status, or `ok` · blob3 channel: endpoint, kind of link or platform · double1 amount in micro-dollars · double2 milliseconds.
 * Nothing personal: no address, user agent, click id or URL.
 */
export type DataPoint = {
	event: "bid" | "no-bid" | "notice" | "click" | "postback" | "callback";
	publisher: string;
	outcome: string;
	channel: string;
	amountMicros?: number;
	milliseconds?: number;
};

/** Writes a data point. Never throws and never waits: losing one must not cost a bid. */
export type Measure = (point: DataPoint) => void;

/** What Analytics Engine's binding offers. */
type Dataset = { writeDataPoint(event: { indexes: string[]; blobs: string[]; doubles: number[] }): void };

/** Longest index Analytics Engine takes, in bytes: identifiers of publishers are ASCII and shorter, others are cut. */
const MAX_INDEX_LENGTH = 96;

/** A writer to the dataset, or undefined where none is bound: then nothing is computed at all. */
export function measureTo(dataset: Dataset | undefined): Measure | undefined {
	if (dataset === undefined) return undefined;
	let told = false;
	return ({ event, publisher, outcome, channel, amountMicros = 0, milliseconds = 0 }) => {
		try {
			dataset.writeDataPoint({
				indexes: [publisher.slice(0, MAX_INDEX_LENGTH)],
				blobs: [event, outcome, channel],
				doubles: [amountMicros, milliseconds],
			});
		} catch (error) {
			// Such as past the runtime's limit for one invocation. Figures are samples: an answer must not fail for one of them.
			if (!told) logError("measure.failed", error);
			told = true;
		}
	};
}
