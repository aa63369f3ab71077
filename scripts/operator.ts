/** `npm run operator -- …`: the operator's commands, against the local server or any other. */
import { guardOutput } from "./local/output.ts";
import { runOperator } from "./operator/run-operator.ts";

guardOutput();
await runOperator(process.argv.slice(2));
