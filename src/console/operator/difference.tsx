/** What a change of the network does: told before it is made. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { isObject } from "../../lib/json.ts";
import type { EntryChange, FieldChange } from "../../operator/network/difference-answer.ts";
import type { ImportReport } from "../../operator/network/import-answer.ts";
import { Notice } from "../ui/messages.tsx";
import { Table } from "../ui/table.tsx";
import { inWords, None } from "../ui/values.tsx";
import { labelOf } from "./entry-fields.ts";

const MAX_SHOWN = 50;

/** What a change that needs a word of confirmation does, whichever of these it is. */
export const NEEDS_A_YES =
	"stops bids of more than half of the campaigns, for more than half of the publishers, or of more than half of their pairs, or more than doubles the prices of most campaigns or the shares of most publishers";

/** Field by field, then what becomes of bids, then what is doubtful. */
export function Difference({ report: { difference, warnings, warning_count } }: { report: ImportReport }): JSX.Element {
	const { entries, added, changed, removed, bids, losses, loss_count } = difference;
	return (
		<>
			{added + changed + removed === 0 ? <Notice>Nothing would change: all of this is stored already.</Notice> : null}
			<Changes entries={entries} all={added + changed + removed} />
			<ul>
				<li>
					{bids.starts === 0
						? "No campaign starts to bid."
						: bidsLine("campaign", bids.starts, bids.started, "bids from now on", "bid from now on")}
				</li>
				<li>
					{bids.stops === 0 ? "No campaign stops bidding." : bidsLine("campaign", bids.stops, bids.stopped, "bids no more", "bid no more")}
				</li>
				{bids.publishers.starts === 0 ? null : (
					<li>
						{bidsLine("publisher", bids.publishers.starts, bids.publishers.started, "is bid for from now on", "are bid for from now on")}
					</li>
				)}
				{bids.publishers.stops === 0 ? null : (
					<li>{bidsLine("publisher", bids.publishers.stops, bids.publishers.stopped, "is bid for no more", "are bid for no more")}</li>
				)}
				{bids.blocked === 0 ? null : (
					<li>
						{bids.blocked === 1 ? "One pair of a publisher and a campaign is" : `${bids.blocked} pairs of a publisher and a campaign are`}{" "}
						blocked from now on.
					</li>
				)}
				{bids.prices.map(({ section, id, field, before, after }) => (
					<li>
						{labelOf(field)} of {section.slice(0, -1)} {id} moves by more than a factor of two: from {before} to {after}.
					</li>
				))}
				<More all={bids.price_count} shown={bids.prices.length} what="prices that move so" />
				{losses.map(({ section, id, field }) => (
					<li>
						{field === null ? "Removed" : `${labelOf(field)} is turned off, cleared or shortened`}: {section.slice(0, -1)} {id}.
					</li>
				))}
				<More all={loss_count} shown={losses.length} what="things that are removed, turned off, cleared or shortened" />
			</ul>
			{warnings.length === 0 ? null : (
				<Notice tone="waiting" title={`${warning_count === 1 ? "One thing is" : `${warning_count} things are`} doubtful`}>
					<ul>
						{warnings.map(({ path, message }) => (
							<li>{path === "" ? message : `${path}: ${message}`}</li>
						))}
						<More all={warning_count} shown={warnings.length} what="doubtful things" />
					</ul>
				</Notice>
			)}
		</>
	);
}

/** That a list has only the first. */
function More({ all, shown, what }: { all: number; shown: number; what: string }): JSX.Element | null {
	return all > shown ? (
		<li>
			And more {what}: {all - shown}.
		</li>
	) : null;
}

/** The first of what changes or has changed, field by field. @param all how many there are */
export function Changes({ entries, all }: { entries: readonly EntryChange[]; all: number }): JSX.Element {
	const shown = entries.slice(0, MAX_SHOWN);
	return (
		<>
			{shown.map((entry) => (
				<Table
					caption={captionOf(entry)}
					columns={[
						{ head: "Field", cell: ({ field }: FieldChange) => labelOf(field) },
						{ head: "Before", cell: ({ before }) => <Value of={before} /> },
						{ head: "After", cell: ({ after }) => <Value of={after} /> },
					]}
					rows={entry.fields}
					empty={<p>{captionOf(entry)}.</p>}
				/>
			))}
			{all > shown.length ? <p>And {all - shown.length} further entries, which are not shown here.</p> : null}
		</>
	);
}

function captionOf({ kind, section, id }: EntryChange): string {
	return `${section === "traffic" || section === "epc_learning" ? "the network" : inWords(section.slice(0, -1))} ${id}: ${kind}`;
}

function bidsLine(noun: "campaign" | "publisher", count: number, ids: readonly (number | string)[], one: string, many: string): string {
	const named = ids.slice(0, MAX_SHOWN).join(", ");
	const first = `${noun[0]?.toUpperCase()}${noun.slice(1)}`;
	return count === 1 ? `${first} ${named} ${one}.` : `${count} ${noun}s ${many}: ${named}${count > MAX_SHOWN ? " and others" : ""}.`;
}

/** A value as the network file has it. */
export function Value({ of }: { of: unknown }): JSX.Element {
	if (isTable(of))
		return (
			<span>
				{Object.entries(of)
					.map(([name, value]) => `${name}: ${value}`)
					.join(", ")}
			</span>
		);
	if (typeof of === "object" && of !== null && !isListOfTexts(of)) {
		return Object.keys(of).length === 0 ? <None /> : <code>{JSON.stringify(of)}</code>;
	}
	const text = typeof of === "boolean" ? (of ? "yes" : "no") : Array.isArray(of) ? of.join(", ") : String(of ?? "");
	return text === "" ? <None /> : <span>{text}</span>;
}

/** One word for another, such as a map of states. */
function isTable(value: unknown): value is Record<string, string | number | boolean> {
	return (
		isObject(value) && Object.keys(value).length > 0 && Object.values(value).every((part) => part !== null && typeof part !== "object")
	);
}

function isListOfTexts(value: object): boolean {
	return Array.isArray(value) && value.every((part) => typeof part !== "object");
}
