import { type Audited, auditPageSchema } from "../../../src/audit/audit-answer.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { readPage } from "../read-page.ts";
import { sayNone } from "../say-none.ts";

const FILTERS = ["actor", "subject", "subjectKind", "verb", "from", "to", "limit", "cursor"] as const;

type Options = ServerOptions & Partial<Record<(typeof FILTERS)[number], string>>;

/** `audit`: who did what. */
export const command: OperatorCommand = {
	name: "audit",
	add(program) {
		withServerOptions(program.command("audit"))
			.description("show who changed what, the newest first")
			.option("--actor <name>", "by the holder of this operator key; `operator` for OPERATOR_KEY")
			.option("--subject <id>", "of what has this id, or of this adjustment")
			.option("--subject-kind <kind>", "of this kind, such as publisher or access_key")
			.option("--verb <operation>", "by this operation, as /openapi-operator.json names it, such as issueKeys")
			.option("--from <time>", "at or after this time or UTC date")
			.option("--to <time>", "before this time; a date is included")
			.option("--limit <count>", "changes a page, at most 1000", "100")
			.option("--cursor <cursor>", "where the page before ended")
			.action(show);
	},
};

async function show(options: Options): Promise<void> {
	const page = await readPage(options, "/operator/audit", FILTERS, auditPageSchema);
	if (options.json) return console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0 && page.next_cursor === null) return console.log(sayNone("changes", FILTERS, options));
	for (const audited of page.data) console.log(describe(audited));
	if (page.next_cursor !== null) console.log(`There are more: --cursor ${page.next_cursor}`);
}

function describe({ at, actor, role, verb, subject, before, after, counts, request_id: requestId }: Audited): string {
	const counted = Object.entries(counts ?? {}).map(([what, count]) => `${count} ${nameOf(what, count)}`);
	const head = `${at}  ${actor} (${role})  ${verb}  ${subject.kind} ${subject.id}${counted.length === 0 ? "" : `: ${counted.join(", ")}`}`;
	const changed = [before, after].some((side) => side !== null) ? [`    ${JSON.stringify(before)} → ${JSON.stringify(after)}`] : [];
	return [head, ...changed, `    request ${requestId}`].join("\n");
}

/** What was counted: `dead_letters` of one is a dead letter, but `other_status` is the name of what differs. */
function nameOf(what: string, count: number): string {
	const words = what.replaceAll("_", " ");
	return count === 1 ? words.replace(/(?<!u)s$/, "") : words;
}
