import type { JSX } from "hono/jsx/jsx-runtime";
import type { Trace } from "../../conversions/trace-answer.ts";
import { Table } from "../ui/table.tsx";
import { Code, State, Time } from "../ui/values.tsx";

/** What came in, each with what became of it. */
export function Postbacks({ caption, rows }: { caption: string; rows: Trace["postbacks"] }): JSX.Element {
	return (
		<Table
			caption={caption}
			columns={[
				{ head: "At", cell: ({ received_at }) => <Time at={received_at} /> },
				{ head: "Platform", cell: ({ platform }) => platform },
				{ head: "Outcome", cell: ({ outcome }) => <State word={outcome} /> },
				{ head: "Query", cell: ({ query }) => <Code>{query}</Code> },
				{ head: "Answer", kind: "prose", cell: ({ answer }) => answer.message },
			]}
			rows={rows}
			empty={<p>No postback of it is kept.</p>}
		/>
	);
}
