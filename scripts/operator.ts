/** `npm run operator -- …`: the operator's commands, against the local server or any other. */
import { Command, CommanderError } from "commander";
import { reportFailure } from "./local/failure.ts";
import { guardOutput } from "./local/output.ts";
import { addCommands } from "./operator/command.ts";

const program = new Command("npm run operator --")
	.description("Operates a Clickbourse server: imports networks and product feeds, explains bids, sends callbacks again.")
	.showHelpAfterError("(--help lists what there is)")
	.exitOverride();

guardOutput();
try {
	await addCommands(program, process.argv[2]);
	await program.parseAsync();
} catch (error) {
	// Commander has printed its message, or the help that was asked for.
	if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 1;
	else reportFailure(error);
}
