/** Sends what changes the network, and says what came of it. */
import type { Command } from "commander";
import * as v from "valibot";
import {
	confirmationSchema,
	type ImportReport,
	importConflictSchema,
	importReportSchema,
	overwrittenSchema,
} from "../../src/operator/network/import-answer.ts";
import { Failure } from "../local/failure.ts";
import { type Answer, type CallOptions, callOperator, messageOf } from "./call-operator.ts";
import { type ServerOptions, withServerOptions } from "./command.ts";
import { describeDifference } from "./describe-difference.ts";
import { describeEnd, describePlaces, readFaults } from "./import-report.ts";
import { readAnswer } from "./read-answer.ts";
import { targetOf } from "./target.ts";

export type ChangeOptions = ServerOptions & { dryRun?: boolean; yes?: boolean };

export function withChangeOptions(command: Command): Command {
	return withServerOptions(command)
		.option("--dry-run", "only show what would change")
		.option(
			"--yes",
			"go on where more than half of the campaigns, publishers or pairs of them would stop, or later changes be overwritten",
		);
}

/** The query of these options. */
export function queryOf({ dryRun, yes, complete }: ChangeOptions & { complete?: boolean }): string {
	const query = new URLSearchParams({
		...(dryRun && { dry_run: "1" }),
		...(yes && { yes: "1" }),
		...(complete && { campaigns_complete: "1" }),
	}).toString();
	return query === "" ? "" : `?${query}`;
}

/** How a change of a version of the network is sent; of any, where none is named. @throws Failure where what is named is none */
export function ofVersion(version: string | undefined): CallOptions {
	if (version === undefined) return {};
	if (/^(?:(?:W\/)?"?\d{1,15}"?|\*)$/.test(version)) return { ifMatch: version };
	throw new Failure(
		`--if-match is ${JSON.stringify(version)}, but must be a version of the network, such as 1763799999123: \`export\` and \`learning advice\` name it.`,
	);
}

/** Sends a change, and prints its difference. @throws Failure where it is refused */
export async function sendChange(path: string, body: object, options: ChangeOptions, call: CallOptions = {}): Promise<void> {
	const answer = await callOperator(targetOf(options), `${path}${queryOf(options)}`, JSON.stringify(body), () => {}, call);
	if (options.json) console.log(JSON.stringify(answer.body, null, 2));
	const report = takeReport(answer);
	if (!options.json) console.log([...describeDifference(report.difference, report.dry_run), ...describeEnd(report)].join("\n"));
}

/** The report of a change. @throws Failure where it was refused, with what the server says */
function takeReport(answer: Answer): ImportReport {
	const { status, body } = answer;
	if (status === 200) return readAnswer(importReportSchema, body);
	throw new Failure(
		describeRefusal(answer).join("\n") ||
			`The server could not do this: HTTP ${status} ${JSON.stringify(body).slice(0, 500)}\nSee its log.`,
	);
}

/** Why a change was refused; empty where the server has no word for it. */
export function describeRefusal({ status, body }: Answer): string[] {
	if (status === 422) {
		const { faults, fault_count } = readFaults(body);
		return ["The server refused this, and nothing was changed:", ...describePlaces(faults, fault_count)];
	}
	if (status === 412) {
		const conflict = v.safeParse(importConflictSchema, body);
		const changed = conflict.success ? conflict.output.changed : [];
		const count = conflict.success ? conflict.output.changed_count : 0;
		return [
			`Nothing was changed: ${messageOf(body) ?? "it was refused"}.`,
			...changed.map(({ section, id, actor, at, import: by }) => `  ${section} ${id}: by ${actor} at ${at} (${by})`),
			...(count > changed.length ? [`  … and ${count - changed.length} more`] : []),
		];
	}
	const said = messageOf(body);
	if (status === 503 && said !== null) return [`Not taken over: ${said}.`];
	if (status !== 409) return [];
	if (v.is(confirmationSchema, body)) return [...describeDifference(body.difference, true), `Nothing was changed: ${body.message}.`];
	const overwritten = v.is(overwrittenSchema, body) ? body.overwritten : [];
	return [
		`Nothing was changed: ${messageOf(body) ?? "it was refused"}.`,
		...overwritten.map(({ section, id, field }) => `  ${section} ${id}${field === "" ? "" : `, ${field}`}`),
	];
}
