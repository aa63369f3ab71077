/** Who did what. */
import type { Audited } from "../../audit/audit-answer.ts";
import { auditQuerySchema } from "../../audit/audit-request.ts";
import { listAudit } from "../../audit/list-audit.ts";
import { readQuery } from "../../http/read-input.ts";
import { page } from "../page.ts";
import { Filters, Pager } from "../ui/filters.tsx";
import { Empty } from "../ui/messages.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { Code, inWords, Time } from "../ui/values.tsx";

const PATH = "/console/operator/audit";

const COLUMNS: readonly Column<Audited>[] = [
	{ head: "At", cell: ({ at }) => <Time at={at} /> },
	{ head: "Who", cell: ({ actor }) => actor },
	{ head: "As", cell: ({ role }) => role },
	{ head: "Did", cell: ({ verb }) => verb },
	{ head: "To", cell: ({ subject }) => `${inWords(subject.kind)} ${subject.id}` },
	{
		head: "Before and after",
		cell: ({ before, after, counts }) => (
			<details>
				<summary>Details</summary>
				<pre>{JSON.stringify({ before, after, counts }, null, 2)}</pre>
			</details>
		),
	},
	{ head: "Request", cell: ({ request_id }) => <Code>{request_id}</Code> },
];

export const AUDIT_PAGES = [
	page({
		method: "GET",
		path: PATH,
		needs: { staff: "viewer" },
		title: "Audit",
		async handle({ deps, query }) {
			const { data, next_cursor } = await listAudit(deps.db, readQuery(auditQuerySchema, query));
			return (
				<>
					<Filters
						path={PATH}
						query={query}
						filters={[
							{ kind: "text", name: "actor", label: "Who" },
							{ kind: "text", name: "verb", label: "Did", hint: "Such as issueKeys" },
							{ kind: "text", name: "subject_kind", label: "Kind", hint: "Such as publisher" },
							{ kind: "text", name: "subject", label: "Its id" },
							{ kind: "date", name: "from", label: "From" },
							{ kind: "date", name: "to", label: "To" },
						]}
					/>
					<Table
						caption="Changes, the latest first"
						columns={COLUMNS}
						rows={data}
						empty={
							<Empty title="Nothing was changed">
								<p>Or nothing that all of these conditions hold for: ask for fewer.</p>
							</Empty>
						}
					/>
					<Pager path={PATH} query={query} next={next_cursor} />
				</>
			);
		},
	}),
];
