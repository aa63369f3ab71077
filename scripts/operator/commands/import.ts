import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import type { OperatorCommand } from "../command.ts";
import { describePlaces, describeReport, readFaults } from "../import-report.ts";
import { showProgress } from "../progress.ts";
import { readJsonInput } from "../read-input.ts";
import { type ChangeOptions, ofVersion, queryOf, takeReport, withChangeOptions } from "../send-change.ts";
import { targetOf } from "../target.ts";

type ImportOptions = ChangeOptions & { complete?: boolean; ifMatch?: string };

/** `import FILE`: imports a network file, all of it or nothing. */
export const command: OperatorCommand = {
	name: "import",
	add(program) {
		withChangeOptions(program.command("import"))
			.description("import a network file (JSON): platforms, publishers, brands, rates, products")
			.argument("<file>", "network file, or - for standard input")
			.option("--complete", "remove campaigns that a brand's list does not name")
			.option("--if-match <version>", "only if the network is still at the version that `export` named")
			.addHelpText(
				"after",
				"\nWhat is in the file is added or changed; entries and fields that are not in it stay, and null clears a field. A fault anywhere changes nothing.",
			)
			.action(importFile);
	},
};

async function importFile(file: string, options: ImportOptions): Promise<void> {
	const target = targetOf(options);
	const call = ofVersion(options.ifMatch);
	const { bytes } = await readJsonInput(file, "a network file");
	const startedAt = Date.now();
	const progress = showProgress(`${options.dryRun ? "Comparing" : "Importing"} ${file === "-" ? "standard input" : file}`, bytes.length);
	const answer = await callOperator(target, `/operator/network${queryOf(options)}`, bytes, progress.sent, call).finally(progress.end);
	if (options.json) console.log(JSON.stringify(answer.body, null, 2));
	if (answer.status === 422) {
		const { faults, fault_count: count } = readFaults(answer.body);
		const lines = options.json ? [] : describePlaces(faults, count);
		throw new Failure(
			[
				`The file was refused and nothing was changed: ${count} ${count === 1 ? "fault" : "faults"}.`,
				...lines,
				"Correct the file and import it again.",
			].join("\n"),
		);
	}
	const report = takeReport(answer, {
		less: "Split the file: sections and brands may be imported one file after another.",
		stands: "Nothing should have changed. See the server's log; the same import may be sent again.",
	});
	if (!options.json) console.log(`${describeReport(report)}\nDone in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s.`);
}
