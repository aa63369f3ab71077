import * as v from "valibot";
import { Failure } from "../local/failure.ts";

/**
 * The server's answer to a verb, by the schema that stands beside the verb. The schemas are strict, for the API's description and
 * the tests. Here the form alone counts: fields that a newer server has added are left out.
 * @throws Failure where the answer has another form
 */
export function readAnswer<const Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
	const result = v.safeParse(schema, body);
	if (result.typed) return result.output;
	throw new Failure(
		`The server's answer is not one this CLI knows: ${JSON.stringify(body).slice(0, 500)}\nIs the server of the same version as the CLI?`,
	);
}
