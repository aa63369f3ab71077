import { counted } from "../../../src/lib/counted.ts";
import { type Statements, statementsSchema } from "../../../src/operator/statement/statement-answers.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { sayNone } from "../say-none.ts";

const FILTERS = ["platform", "limit", "cursor"] as const;

type Options = ServerOptions & Partial<Record<(typeof FILTERS)[number], string>>;

/** `statements`: which statements of platforms were applied. */
export const command: OperatorCommand = {
	name: "statements",
	add(program) {
		withServerOptions(program.command("statements"))
			.description("list platforms' statements that were applied, the newest first, each with the SHA-256 of its file")
			.option("--platform <id>", "of this platform (its id in the network file)")
			.option("--limit <count>", "statements a page, at most 1000", "100")
			.option("--cursor <cursor>", "where the page before ended")
			.action(list);
	},
};

async function list(options: Options): Promise<void> {
	const page = await readPage(options, "/operator/reconcile", FILTERS, statementsSchema);
	if (options.json) console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) await refuseUnknown(options, { platform: options.platform });
	if (options.json) return;
	if (page.data.length === 0) return console.log(sayNone("applied statements", FILTERS, options));
	for (const statement of page.data) console.log(describe(statement));
	if (page.next_cursor !== null) console.log(`There are more: --cursor ${page.next_cursor}`);
}

function describe({ at, actor, platform, rows, applied, applied_at, hash }: Statements["data"][number]): string {
	const what = `${counted(rows, "row")}, ${counted(applied, "postback")} made of it`;
	return `${at}  ${actor}  ${platform}  ${what}${applied_at === null ? ": not all of it is applied, give it again" : ""}  ${hash}`;
}
