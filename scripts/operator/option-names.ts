/** One list of a command's options, as it has them in the program, gives how they are sent, and how they are named to people. */
import type { Names } from "./take-answer.ts";

/** The parameter that an option is sent as. @example parameterOf("addressPrefix") // "address_prefix" */
function parameterOf(option: string): string {
	return option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The option as it is typed. @example flagOf("addressPrefix") // "--address-prefix" */
export function flagOf(option: string): string {
	return `--${parameterOf(option).replaceAll("_", "-")}`;
}

/** The options by the parameters that they are sent as. @example namesOf(["addressPrefix"]) // { address_prefix: "--address-prefix" } */
export function namesOf(options: readonly string[]): Names {
	return Object.fromEntries(options.map((option) => [parameterOf(option), flagOf(option)]));
}

/** Those of the options that are given, by the parameters that they are sent as. */
export function parametersOf<Option extends string>(
	options: readonly Option[],
	given: Readonly<Partial<Record<Option, string | undefined>>>,
): Record<string, string> {
	return Object.fromEntries(
		options.flatMap((option) => {
			const value = given[option];
			return value === undefined ? [] : [[parameterOf(option), value]];
		}),
	);
}
