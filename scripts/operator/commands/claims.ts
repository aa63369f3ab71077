import type { Command } from "commander";
import { type OperatorClaim, operatorClaimsSchema, settledClaimSchema } from "../../../src/claims/claim-answers.ts";
import { CLAIM_STATES } from "../../../src/lib/enums.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, oneOf, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { readPage } from "../read-page.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { sayNone } from "../say-none.ts";
import { describeAdjusted } from "../send-adjustment.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

const MEANS = ["amount", "attach_conversion", "restore_conversion", "release_conversion"];

const FILTERS = ["id", "state", "publisher", "from", "to", "limit", "cursor"] as const;
/** Of `grant`: what the adjustment is of. */
const GRANTED = ["date", "amount", "platform", "txnid", "click", "upTo"] as const;

type ListOptions = ServerOptions & Partial<Record<(typeof FILTERS)[number], string>>;
type SettleOptions = ServerOptions & { text: string; dryRun?: boolean };
type GrantOptions = SettleOptions & { by: string } & Partial<Record<(typeof GRANTED)[number], string>>;

/** `claims …`: what publishers claim, answered, granted or declined. */
export const command: OperatorCommand = {
	name: "claims",
	add(program) {
		const claims = program.command("claims").description("list what publishers claim, answer it, grant or decline it");
		withServerOptions(claims.command("list"))
			.description("list claims with what was written, the newest first")
			.option("--id <id>", "this one")
			.option("--publisher <id>", "of this publisher (its id in the network file)")
			.option("--state <state>", oneOf(CLAIM_STATES))
			.option("--from <time>", "made at or after this time or UTC date")
			.option("--to <time>", "made before this time; a date is included")
			.option("--limit <count>", "claims a page, at most 1000")
			.option("--cursor <cursor>", "where the page before ended")
			.action(list);
		for (const [verb, description] of [
			["answer", "write to the publisher: the claim waits for it"],
			["decline", "end a claim that is not right"],
		] as const) {
			ofOne(claims.command(verb))
				.description(description)
				.action((id: string, { text, ...options }: SettleOptions) => settle(id, verb, options, { text }));
		}
		ofOne(claims.command("grant"))
			.description("grant a claim by an adjustment of its publisher")
			.requiredOption("--by <means>", oneOf(MEANS))
			.option("--date <date>", "of an amount: the UTC day")
			.option("--amount <amount>", "of an amount: USD")
			.option("--platform <id>", "of a conversion: its platform")
			.option("--txnid <id>", "of a conversion: its transaction")
			.option("--click <id>", "that an unmatched conversion is given: the click's hash, its id, or the publisher's click id")
			.option("--up-to <amount>", "of a held conversion: what it was seen to be worth, USD; not if it is worth more by now")
			.action((id: string, { text, by, date, amount, platform, txnid, click, upTo, ...options }: GrantOptions) =>
				settle(id, "grant", options, { text, by: { kind: by, date, amount, platform, txnid, click, up_to: upTo } }),
			);
	},
};

/** Options of `grant`, by what they are sent as. */
const NAMES = {
	...namesOf(["text"]),
	"by.kind": "--by",
	...Object.fromEntries(Object.entries(namesOf(GRANTED)).map(([field, name]) => [`by.${field}`, name])),
};

function ofOne(command: Command): Command {
	return withServerOptions(command)
		.argument("<id>", "the claim's, as `claims list` shows it")
		.requiredOption("--text <text>", "what the publisher reads")
		.option("--dry-run", "only say what the claim would be then, and what its adjustment would come to");
}

async function list(options: ListOptions): Promise<void> {
	const page = await readPage(options, "/operator/claims", FILTERS, operatorClaimsSchema);
	if (options.json) console.log(JSON.stringify(page, null, 2));
	if (page.data.length === 0) await refuseUnknown(options, { publisher: options.publisher });
	if (page.data.length === 0 && options.id !== undefined)
		throw new Failure(`There is no claim ${options.id}. \`claims list\` shows those there are.`);
	if (options.json) return;
	if (page.data.length === 0) console.log(sayNone("claims", FILTERS, options));
	for (const claim of page.data) console.log(describeClaim(claim));
	if (page.next_cursor !== null) console.log(`There are more: --cursor ${page.next_cursor}`);
}

async function settle(id: string, verb: string, { dryRun, ...options }: Omit<SettleOptions, "text">, body: object): Promise<void> {
	const path = `/operator/claims/${encodeURIComponent(id)}/${verb}${dryRun ? "?dry_run=1" : ""}`;
	const settled = take(settledClaimSchema, await callOperator(targetOf(options), path, JSON.stringify(body)), {
		stands: "Nothing, or all of it, was done: `claims list` shows the claim.",
		names: NAMES,
	});
	if (options.json) return console.log(JSON.stringify(settled, null, 2));
	const { adjusted, dry_run, ...claim } = settled;
	if (dry_run) console.log("Nothing was changed. It would be:");
	console.log(describeClaim(claim));
	if (adjusted !== null) console.log(describeAdjusted(adjusted));
}

function describeClaim(claim: OperatorClaim): string {
	const { id, publisher, kind, about, brand, amount, state, adjustment, created_at, undone_at, thread } = claim;
	const facts = [publisher, ...(brand === null ? [] : [brand]), ...(amount === null ? [] : [`${amount} USD`])].join(", ");
	const undone = undone_at === null ? "" : `, undone ${undone_at}`;
	return [
		`${created_at}  ${id}  ${state}${adjustment === null ? "" : ` (adjustment ${adjustment}${undone})`}  a sale is ${kind}: ${about}  ${facts}`,
		// Lines of a text stand further in than all that is ours.
		...thread.map(({ at, by, text }) => `    ${at}  ${by}: ${text.replaceAll("\n", "\n        ")}`),
	].join("\n");
}
