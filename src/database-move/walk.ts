import type { Database } from "../db/client.ts";
import type { MoveDifference } from "./move-answers.ts";

/** What the steps of a move work with. */
export type Walk = {
	from: Database;
	to: Database;
	moveId: string;
	/** Whether the time of this request is over. */
	isOver: () => boolean;
	/** Told of everything that is not the same in both. */
	report: (difference: MoveDifference) => void;
};
