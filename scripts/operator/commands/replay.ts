import * as v from "valibot";
import { Failure } from "../../local/failure.ts";
import { callOperator, type Target } from "../call-operator.ts";
import { type OperatorCommand, readOrigin, type ServerOptions, withServerOptions } from "../command.ts";
import { findKey } from "../find-key.ts";
import { describePlaces, readFaults } from "../import-report.ts";

type ReplayOptions = ServerOptions & { queue?: string; dryRun?: boolean };

/** `replay`: sends messages that no consumer could take to their queue again. */
export const command: OperatorCommand = {
	name: "replay",
	add(program) {
		withServerOptions(program.command("replay"))
			.description("send dead letters (messages that no consumer could take) to their queue again")
			.option("--queue <queue>", "clicks, postbacks or callbacks (otherwise all of them)")
			.option("--dry-run", "only say what would be sent")
			.action(replay);
	},
};

const counts = v.object({ clicks: v.number(), postbacks: v.number(), callbacks: v.number() });
const reportSchema = v.object({ replayed: counts, remaining: counts, dry_run: v.boolean(), until: v.string() });
type Report = v.InferOutput<typeof reportSchema>;
type Counts = Report["replayed"];

/** A request sends a bounded number: asks until nothing remains of what there was at the first. */
async function replay({ queue, dryRun = false, ...options }: ReplayOptions): Promise<void> {
	const target = { origin: readOrigin(options.url), ...findKey(options.keyFile) };
	const asked = { ...(queue !== undefined && { queue }), dry_run: dryRun };
	let report = await ask(target, asked);
	const replayed = { ...report.replayed };
	while (!dryRun && total(report.replayed) > 0 && total(waiting(report.remaining, queue)) > 0) {
		report = await ask(target, { ...asked, until: report.until });
		for (const name of names) replayed[name] += report.replayed[name];
	}
	if (options.json) return console.log(JSON.stringify({ ...report, replayed }, null, 2));
	if (total(replayed) === 0) return console.log("There are no dead letters to send.");
	console.log(`${dryRun ? "Would send" : "Sent"} again: ${describe(replayed)}`);
}

const names = ["clicks", "postbacks", "callbacks"] as const;

async function ask(target: Target, body: object): Promise<Report> {
	const answer = await callOperator(target, "/operator/replay", JSON.stringify(body));
	if (answer.status === 422) {
		const { faults, fault_count } = readFaults(answer.body);
		throw new Failure(["The server refused this, and nothing was sent:", ...describePlaces(faults, fault_count)].join("\n"));
	}
	if (answer.status !== 200) {
		throw new Failure(
			`The server could not send them all: HTTP ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}\nWhat was not sent is still kept. See the server's log.`,
		);
	}
	const report = v.safeParse(reportSchema, answer.body);
	if (!report.success) throw new Failure("The server's answer is not one this CLI knows. Use --json to see it as it is.");
	return report.output;
}

function waiting(remaining: Counts, queue: string | undefined): Counts {
	if (queue === undefined) return remaining;
	return Object.fromEntries(names.map((name) => [name, name === queue ? remaining[name] : 0])) as Counts;
}

function total(of: Counts): number {
	return names.reduce((sum, name) => sum + of[name], 0);
}

function describe(of: Counts): string {
	return names
		.filter((name) => of[name] > 0)
		.map((name) => `${of[name]} of ${name}`)
		.join(", ");
}
