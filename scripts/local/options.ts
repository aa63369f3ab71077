/** Options of the commands that have few. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { Failure } from "./failure.ts";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<Chosen extends Options> = ReturnType<typeof parseArgs<{ options: Chosen }>>["values"];

/**
 * The options that a command was called with; `--help` prints how it is used, and ends it.
 * @param usage how it is used, in sentences
 * @throws Failure for any other option or argument, with `usage`
 */
export function readOptions<const Chosen extends Options>(options: Chosen, usage: string): Values<Chosen> {
	if (process.argv.slice(2).includes("--help")) {
		console.log(usage);
		process.exit(0);
	}
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		throw new Failure(`${error.message}\n${usage}`);
	}
}
