import { postbackUrlSchema } from "../../../src/operator/postback-problems/problems-answers.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type UrlOptions = ServerOptions & { network?: string; issue?: boolean };

/** `postback-url`: the whole address to give to a platform. */
export const command: OperatorCommand = {
	name: "postback-url",
	add(program) {
		withServerOptions(program.command("postback-url"))
			.description("show the address that a platform is to call, with its network's macros in it")
			.argument("<platform>", "its id in the network file")
			.option("--network <id>", "whose macros: awin, impact, everflow, tune, cake, affise … (otherwise as the platform's name tells)")
			.option("--issue", "issue a further key, which the address shows this once; keys that there are stay valid")
			.action(show);
	},
};

async function show(platform: string, { network, issue, ...options }: UrlOptions): Promise<void> {
	const wanted = { platform, ...(network !== undefined && { network }) };
	const asked = issue
		? callOperator(targetOf(options), "/operator/postback-url", JSON.stringify(wanted))
		: callOperator(targetOf(options), `/operator/postback-url?${new URLSearchParams(wanted)}`, null);
	const answer = take(postbackUrlSchema, await asked, { names: namesOf(["network"]) });
	if (options.json) return console.log(JSON.stringify(answer, null, 2));
	console.log(answer.url);
	if (answer.key_id === null)
		console.log("Put the platform's key in the place of {access_key}: keys are not stored, and --issue makes a new one.");
	else console.log(`The key is shown only this once: ${answer.key_id} in \`keys list\`.`);
	if (answer.network === null)
		console.log("Its network is not known: replace the words in capitals by the platform's macros, or name it with --network.");
	else if (answer.source !== null) console.log(`${answer.read ? "The macros are from" : "Compare the macros with"} ${answer.source}`);
	if (answer.network !== null && answer.unknown.length > 0) console.log(`Not known: its macro for ${answer.unknown.join(", ")}.`);
	if (answer.note !== null) console.log(answer.note);
}
