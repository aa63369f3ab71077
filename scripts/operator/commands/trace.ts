import { type Trace, traceAnswerSchema } from "../../../src/conversions/trace-answer.ts";
import { Failure } from "../../local/failure.ts";
import { askUntil } from "../ask-until.ts";
import { type Answer, callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeTrace, isOnItsWay, isUnknown, sayUnknown } from "../describe-trace.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type TraceOptions = ServerOptions & { wait?: boolean };

const MAX_WAIT_SECONDS = 30;

/** `trace`: the whole way of a sale, from the click to the last callback attempt. */
export const command: OperatorCommand = {
	name: "trace",
	add(program) {
		withServerOptions(program.command("trace"))
			.description("say what became of a click or transaction: postbacks, events, callbacks")
			.argument("<id>", "click hash, publisher's click id, a platform's transaction id, or a postback's request id")
			.option("--wait", `look again until it has arrived and nothing of it is on its way, for at most ${MAX_WAIT_SECONDS} s`)
			.addHelpText("after", "\nEnds with 1 where nothing is stored under the id.")
			.action(trace);
	},
};

async function trace(id: string, options: TraceOptions): Promise<void> {
	const target = targetOf(options);
	const ask = async () => read(await callOperator(target, "/operator/trace", JSON.stringify({ id })));
	const arrived = ({ found }: { found: Trace }) => !isUnknown(found) && !isOnItsWay(found);
	const waitMs = options.wait ? MAX_WAIT_SECONDS * 1_000 : 0;
	const { body, found } = waitMs === 0 ? await ask() : await askUntil(id, ask, arrived, waitMs);
	if (options.json) console.log(JSON.stringify(body, null, 2));
	if (isUnknown(found)) throw new Failure(sayUnknown(id, waitMs));
	if (!options.json) console.log(describeTrace(found));
}

/** @throws Failure where the server could not, or answers something this CLI does not know */
function read(answer: Answer): { body: unknown; found: Trace } {
	return { body: answer.body, found: take(traceAnswerSchema, answer, { names: { id: "the id" } }) };
}
