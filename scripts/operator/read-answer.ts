import * as v from "valibot";
import { Failure } from "../local/failure.ts";

/**
 * The server's answer to a verb, by the schema that stands beside the verb. The schemas are strict, for the API's description and
 * the tests. Here the form alone counts: fields that a newer server has added are left out, and no value is looked at closely.
 * @throws Failure where the answer has another form
 */
export function readAnswer<const Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
	const result = v.safeParse(schema, body);
	// With no other issues than these, valibot has read every field that the schema names.
	if (result.success || result.issues.every(isBearable)) return result.output as v.InferOutput<Schema>;
	throw new Failure(
		`The server's answer is not one this CLI knows: ${JSON.stringify(body).slice(0, 500)}\nIs the server of the same version as the CLI?`,
	);
}

function isBearable({ kind, type, expected }: v.BaseIssue<unknown>): boolean {
	return kind === "validation" || (type === "strict_object" && expected === "never");
}
