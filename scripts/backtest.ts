/** `npm run backtest -- --serve`: the learner as production runs it, behind standard input and output. */
import { Command } from "commander";
import { serve } from "./backtest/serve.ts";
import { reportFailure } from "./local/failure.ts";

const command = new Command("npm run backtest --")
	.description("Prices that learn, tried on what is told: reads one JSON object a line, and answers `prices` with one line.")
	.option("--serve", "read standard input, answer on standard output")
	.allowExcessArguments(false)
	.parse();

if (command.opts<{ serve?: boolean }>().serve !== true) command.error("error: --serve is missing");
serve(process.stdin, process.stdout, process.stderr).catch(reportFailure);
