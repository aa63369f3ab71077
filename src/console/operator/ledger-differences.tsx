/** Conversions that are not what their events say, or of which publishers were told something else: each with what mends it. */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Status } from "../../operator/status/status-answer.ts";
import { slugOf } from "../ui/address.ts";
import { Table } from "../ui/table.tsx";
import { inWords } from "../ui/values.tsx";
import { conversionAddress } from "./conversion-address.ts";

type Difference = Status["ledger"]["differences"][number];

const CAPTION = "Conversions that differ, the newest found first";

/** Where the table of them is on its page. */
export const DIFFERENCES_ANCHOR = `#table-${slugOf(CAPTION)}`;

const VOID_AND_RESTORE = "Void it, then restore it: what is missing is told";
const BY_HAND = "Look at what its publisher was told, and settle the rest with them by hand";

/** Of callbacks, what is amiss and what mends it. */
const OF_CALLBACKS: Readonly<Record<string, { what: string; mend: string }>> = {
	no_credit: { what: "its credit is missing", mend: VOID_AND_RESTORE },
	credit_stands: { what: "it is cancelled, and its credit was not taken back", mend: VOID_AND_RESTORE },
	credit_amount: { what: "it was credited with another amount than it earns", mend: VOID_AND_RESTORE },
	not_owed: { what: "callbacks that nobody is owed", mend: BY_HAND },
	order: { what: "its callbacks are out of order", mend: BY_HAND },
};

function wordsOf({ kind, field }: Difference): { what: string; mend: string } {
	const known = kind === "callbacks" ? OF_CALLBACKS[field] : undefined;
	if (known !== undefined) return known;
	return {
		what: `${inWords(field)} is not what its events give`,
		mend: "Its row was changed by hand, or by a fault of ours: compare it with its history, and tell us",
	};
}

/** Nothing where nothing differs. */
export function LedgerDifferences({ ledger: { differences, difference_count } }: Pick<Status, "ledger">): JSX.Element {
	return (
		<>
			<Table
				caption={CAPTION}
				columns={[
					{
						head: "Transaction",
						cell: (difference) => (
							<a href={conversionAddress(difference)}>
								{difference.platform} <code>{difference.txnid}</code>
							</a>
						),
					},
					{ head: "Publisher", cell: ({ publisher }) => publisher },
					{ head: "What differs", kind: "prose", cell: (difference) => wordsOf(difference).what },
					{ head: "Is", cell: ({ stored }) => stored },
					{ head: "Should be", cell: ({ expected }) => expected },
					{ head: "What mends it", kind: "prose", cell: (difference) => wordsOf(difference).mend },
				]}
				rows={differences}
				empty={null}
			/>
			{difference_count > differences.length ? (
				<p class="note">
					The newest {differences.length} of {difference_count}: <code>check-ledger</code> names all.
				</p>
			) : null}
		</>
	);
}
