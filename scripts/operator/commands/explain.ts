import { type Explanation, explanationSchema } from "../../../src/bidding/explain-answer.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { describeExplanation } from "../describe-explanation.ts";
import { readJsonInput } from "../read-input.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type ExplainOptions = ServerOptions & { identity?: string; pubi?: string };

/** `explain`: what a request would get, with every campaign considered and why it lost. */
export const command: OperatorCommand = {
	name: "explain",
	add(program) {
		withServerOptions(program.command("explain"))
			.description("say what a request would get, and why")
			.argument("<request>", "OpenRTB bid request (a JSON file, or - for standard input); with --pubi a Serving Engine query")
			.option("--identity <identity>", "the publisher identity in the OpenRTB path")
			.option("--pubi <id>", "the publisher id of the Serving Engine")
			.addHelpText(
				"after",
				"\nExamples:\n  explain bid-request.json --identity acme_rtb\n  explain 'bd=shoes.example&cc=US&kw=running+shoes' --pubi 1001\n" +
					"  explain 'http://localhost:8787/serving-engine?pubi=1001&bd=shoes.example&cc=US'",
			)
			.action(explain);
	},
};

const QUESTIONS = "--identity goes with an OpenRTB bid request, an object of JSON; --pubi with a Serving Engine query.";

async function explain(request: string, options: ExplainOptions): Promise<void> {
	const target = targetOf(options);
	const question = await readQuestion(request, options);
	const answer = await callOperator(target, "/operator/explain", JSON.stringify(question));
	const explanation = take(explanationSchema, answer, { advise: () => [QUESTIONS] });
	console.log(options.json ? JSON.stringify(answer.body, null, 2) : describeExplanation(explanation));
	if (isMistaken(explanation.decision)) process.exitCode = 1;
}

/** A request that the endpoint refuses, or of an id that nobody has or that may not use the endpoint: no answer to what was meant. */
function isMistaken(decision: Explanation["decision"]): boolean {
	return decision.outcome === "invalid" || (decision.outcome === "no-bid" && decision.reason === "publisher_not_enabled");
}

async function readQuestion(request: string, { identity, pubi }: ExplainOptions): Promise<unknown> {
	if (identity !== undefined && pubi !== undefined)
		throw new Failure("Give --identity for an OpenRTB request or --pubi for a Serving Engine query, not both.");
	if (identity !== undefined) {
		const { value } = await readJsonInput(request, "an OpenRTB bid request");
		return { publisher_identity: identity, request: value };
	}
	// A "?" behind the first parameter's name is of a value.
	const query = request.replace(/^[^=?]*\?/, "");
	const publisherId = pubi ?? new URLSearchParams(query).get("pubi");
	if (publisherId !== null && (pubi !== undefined || request.includes("="))) return { publisher_id: publisherId, query };
	throw new Failure(
		"Whose request is it? Give --identity (OpenRTB, the request in a file) or --pubi (Serving Engine, the request as a query string).",
	);
}
