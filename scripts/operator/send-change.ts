/** Sends what changes the network, and says what came of it. */
import type { Command } from "commander";
import * as v from "valibot";
import { isObject } from "../../src/lib/json.ts";
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
import { describeEnd } from "./import-report.ts";
import { namesOf } from "./option-names.ts";
import { isUnavailable, type Telling, take } from "./take-answer.ts";
import { targetOf } from "./target.ts";

export type ChangeOptions = ServerOptions & { dryRun?: boolean; yes?: boolean };

export function withChangeOptions(command: Command): Command {
	return withServerOptions(command)
		.option("--dry-run", "only show what would change")
		.option(
			"--yes",
			"go on where more than half of the campaigns, publishers or pairs of them would stop, most prices or shares would more than double, or later changes be overwritten",
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
	const report = takeReport(answer, {
		names: { ...CHANGE_NAMES, import: "the id" },
		stands: `${options.dryRun ? "" : "`imports` shows whether it was done. "}See the server's log.`,
	});
	if (!options.json)
		console.log([...describeDifference(report.difference, report.dry_run), ...describeEnd(report, "(the entry)")].join("\n"));
}

const CHANGE_NAMES = namesOf(["dryRun", "yes"]);

/** The report of a change. @throws Failure where it was refused, with what the server says */
export function takeReport(answer: Answer, telling: Telling): ImportReport {
	const refusal = describeRefusal(answer);
	if (refusal.length > 0) throw new Failure(refusal.join("\n"));
	return take(importReportSchema, answer, telling);
}

/** Why a change was refused, where that is told as of no other command: what others have changed, what needs to be confirmed. Else empty. */
function describeRefusal({ status, body }: Answer): string[] {
	const said = messageOf(body);
	if (said === null) return [];
	if (status === 412) {
		const conflict = v.safeParse(importConflictSchema, body);
		const changed = conflict.success ? conflict.output.changed : [];
		const count = conflict.success ? conflict.output.changed_count : 0;
		return [
			`Nothing was changed: ${said}.`,
			...changed.map(({ section, id, actor, at, import: by }) => `  ${section} ${id}: by ${actor} at ${at} (${by})`),
			...(count > changed.length ? [`  … and ${count - changed.length} more`] : []),
		];
	}
	if (status === 503 && !isUnavailable(body)) return [`${isObject(body) ? body.error : "Not taken over"}: ${said}.`];
	if (status !== 409) return [];
	if (v.is(confirmationSchema, body)) return [...describeDifference(body.difference, true), `Nothing was changed: ${body.message}.`];
	const overwritten = v.is(overwrittenSchema, body) ? body.overwritten : [];
	return [
		`Nothing was changed: ${said}.`,
		...overwritten.map(({ section, id, field }) => `  ${section} ${id}${field === "" ? "" : `, ${field}`}`),
	];
}
