import { Command, CommanderError, Help } from "commander";
import { reportFailure } from "../local/failure.ts";
import { addCommands } from "./command.ts";

/** Runs one command and sets the exit code. Whatever goes wrong is printed. @param words what stands after `npm run operator --` */
export async function runOperator(words: readonly string[]): Promise<void> {
	const program = new Command("npm run operator --")
		.description("Operates a Clickbourse server: imports networks and product feeds, explains bids, sends callbacks again.")
		.configureHelp({
			optionDescription: (option) => `${new Help().optionDescription(option)}${option.mandatory ? " (required)" : ""}`,
		})
		.showHelpAfterError("(--help lists what there is)")
		.exitOverride();
	try {
		await addCommands(program, words[0]);
		await program.parseAsync(words, { from: "user" });
	} catch (error) {
		// Commander has printed its message, or the help that was asked for.
		if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 1;
		else reportFailure(error);
	}
}
