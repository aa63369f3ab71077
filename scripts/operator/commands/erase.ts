import { type Erased, erasedSchema } from "../../../src/operator/erase/erase-answer.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type EraseOptions = ServerOptions & { uid?: string; click?: string; dryRun?: boolean };

/** `erase`: removes what is known of a user. */
export const command: OperatorCommand = {
	name: "erase",
	add(program) {
		withServerOptions(program.command("erase"))
			.description("erase what is known of a user; the money stays, and a receipt is given")
			.option("--uid <uid>", "of all clicks with this uid")
			.option("--click <click>", "of this click: its hash or its id")
			.option("--dry-run", "only say what would be erased")
			.action(erase);
	},
};

/** A request does a bounded part: asks until all is done, and adds up. */
async function erase({ uid, click, dryRun = false, ...options }: EraseOptions): Promise<void> {
	if ((uid === undefined) === (click === undefined)) throw new Failure("Whose data? Give either --uid or --click.");
	const target = targetOf(options);
	const receipts: Erased[] = [];
	for (let after: string | null = null; ; ) {
		const body = JSON.stringify({ uid, click, ...(after !== null && { cursor: after }) });
		const answer = await callOperator(target, `/operator/erase${dryRun ? "?dry_run=1" : ""}`, body);
		const receipt = take(erasedSchema, answer, {
			names: namesOf(["uid", "click", "dryRun"]),
			stands: dryRun ? undefined : "Not all is erased: give the command again for the rest. See the server's log.",
			isBegun: !dryRun && receipts.length > 0,
		});
		receipts.push(receipt);
		after = receipt.next_cursor;
		// Nothing is removed by asking what would be: the same clicks would be found without end.
		if (receipt.complete || (dryRun && after === null)) break;
	}
	if (options.json) return console.log(JSON.stringify(receipts, null, 2));
	for (const { id, at, hash, counts, complete, next_cursor } of receipts) {
		const found = Object.entries(counts).filter(([, count]) => count > 0);
		const told = found.map(([name, count]) => `${count} ${name.replaceAll("_", " ").replace(count === 1 ? /s$/ : "", "")}`).join(", ");
		const done = !dryRun ? "Erased" : complete || next_cursor !== null ? "Would erase" : "Would erase, and more";
		console.log(`${done}: ${told === "" ? "nothing is known" : told}`);
		if (!dryRun) console.log(`Receipt ${id} of ${at}, hash ${hash}`);
	}
}
