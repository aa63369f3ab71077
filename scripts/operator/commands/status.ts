import { statusSchema } from "../../../src/operator/status/status-answer.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeStatus } from "../describe-status.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

/** `status`: how the network is doing, for people. */
export const command: OperatorCommand = {
	name: "status",
	add(program) {
		withServerOptions(program.command("status"))
			.description("say how the network is doing: book, queues, callbacks, conversions, pauses")
			.action(showStatus);
	},
};

async function showStatus(options: ServerOptions): Promise<void> {
	const target = targetOf(options);
	const answer = await callOperator(target, "/operator/status", null);
	const status = take(statusSchema, answer);
	console.log(options.json ? JSON.stringify(answer.body, null, 2) : describeStatus(status).join("\n"));
}
