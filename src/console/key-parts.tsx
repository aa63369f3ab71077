/** What both consoles show of keys: how they stand, and how long those that are replaced go on. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { parseJson } from "../lib/json.ts";
import type { CredentialState } from "../operator/keys/keys-answers.ts";
import { DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS } from "../operator/keys/keys-request.ts";
import type { Column } from "./ui/table.tsx";
import { State, Time } from "./ui/values.tsx";

export const STANDING_COLUMNS: readonly Column<CredentialState>[] = [
	{
		head: "State",
		cell: ({ state }) => <State word={state} tone={state === "valid" ? "good" : state === "ending" ? "waiting" : "over"} />,
	},
	{ head: "Ends at", cell: ({ ends_at }) => <Time at={ends_at} />, isGiven: ({ ends_at }) => ends_at !== null },
	{ head: "Made at", cell: ({ created_at }) => <Time at={created_at} /> },
];

export const OVERLAP_LABEL = "Overlap in hours";

export function OverlapInput(): JSX.Element {
	return (
		<label>
			{OVERLAP_LABEL}{" "}
			<input type="number" name="overlap_hours" value={String(DEFAULT_OVERLAP_HOURS)} min="0" max={String(MAX_OVERLAP_HOURS)} required />
		</label>
	);
}

/** Hours as they were typed. What is no number is given on as it is, and refused. */
export function readOverlap(hours: string): unknown {
	return parseJson(hours) ?? hours;
}
