import { statusSchema } from "../../../src/operator/status/status-answer.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeStatus } from "../describe-status.ts";
import { readAnswer } from "../read-answer.ts";
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
	const { status, body } = await callOperator(target, "/operator/status", null);
	if (status !== 200) throw new Failure(`The server answered HTTP ${status} ${JSON.stringify(body).slice(0, 500)}\nSee the server's log.`);
	if (options.json) return console.log(JSON.stringify(body, null, 2));
	console.log(describeStatus(readAnswer(statusSchema, body)).join("\n"));
}
