import { QUEUE_NAMES } from "../../../src/lib/enums.ts";
import { type Replayed, replayedSchema } from "../../../src/operator/dead-letters/replay-answers.ts";
import { callOperator, type Target } from "../call-operator.ts";
import { type OperatorCommand, oneOf, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type ReplayOptions = ServerOptions & { queue?: string; dryRun?: boolean };

/** `replay`: sends messages that no consumer could take to their queue again. */
export const command: OperatorCommand = {
	name: "replay",
	add(program) {
		withServerOptions(program.command("replay"))
			.description("send dead letters (messages that no consumer could take) to their queue again")
			.option("--queue <queue>", `${oneOf(QUEUE_NAMES)} (otherwise all of them)`)
			.option("--dry-run", "only say what would be sent")
			.action(replay);
	},
};

type Counts = Replayed["replayed"];

/** A request sends a bounded number: asks until nothing remains of what there was at the first. */
async function replay({ queue, dryRun = false, ...options }: ReplayOptions): Promise<void> {
	const target = targetOf(options);
	const asked = { ...(queue !== undefined && { queue }), dry_run: dryRun };
	let report = await ask(target, asked);
	const replayed = { ...report.replayed };
	while (!dryRun && total(report.replayed) > 0 && total(waiting(report.remaining, queue)) > 0) {
		report = await ask(target, { ...asked, until: report.until }, true);
		for (const name of QUEUE_NAMES) replayed[name] += report.replayed[name];
	}
	if (options.json) return console.log(JSON.stringify({ ...report, replayed }, null, 2));
	if (total(replayed) === 0) return console.log("There are no dead letters to send.");
	console.log(`${dryRun ? "Would send" : "Sent"} again: ${describe(replayed)}`);
}

async function ask(target: Target, body: object, isLater = false): Promise<Replayed> {
	const answer = await callOperator(target, "/operator/replay", JSON.stringify(body));
	return take(replayedSchema, answer, {
		names: namesOf(["queue", "dryRun"]),
		stands: "What was not sent is still kept: give the command again for the rest. See the server's log.",
		// A queue that is not bound is told of behind others, of which some were sent.
		isBegun: isLater || answer.status === 503,
	});
}

function waiting(remaining: Counts, queue: string | undefined): Counts {
	if (queue === undefined) return remaining;
	return Object.fromEntries(QUEUE_NAMES.map((name) => [name, name === queue ? remaining[name] : 0])) as Counts;
}

function total(of: Counts): number {
	return QUEUE_NAMES.reduce((sum, name) => sum + of[name], 0);
}

function describe(of: Counts): string {
	return QUEUE_NAMES.filter((name) => of[name] > 0)
		.map((name) => `${of[name]} of ${name}`)
		.join(", ");
}
