import type { Command } from "commander";
import type * as v from "valibot";
import { counted, countedAs } from "../../../src/lib/counted.ts";
import {
	type Advice,
	adviceSchema,
	type Evidence,
	type LearningState,
	learningStateSchema,
	type Prices,
	pricesSchema,
	rebuiltSchema,
} from "../../../src/operator/learning/learning-answers.ts";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, type ServerOptions, withServerOptions } from "../command.ts";
import { namesOf } from "../option-names.ts";
import { showLine } from "../progress.ts";
import { refuseUnknown } from "../refuse-unknown.ts";
import { type ChangeOptions, ofVersion, sendChange, withChangeOptions } from "../send-change.ts";
import { type Names, take } from "../take-answer.ts";
import { targetOf } from "../target.ts";

type PageOptions = ServerOptions & Partial<Record<"limit" | "cursor", string>>;
type AcceptOptions = ChangeOptions & { all?: boolean; ifMatch?: string };

/** `learning …`: how prices are learned, what they were, what is advised; and accepting it. */
export const command: OperatorCommand = {
	name: "learning",
	add(program) {
		const learning = program.command("learning").description("say how prices are learned, and accept what is advised");
		withServerOptions(learning.command("show"))
			.description("modes, the last night, delays by platform, breaks")
			.action((options: ServerOptions) => show(options, "", learningStateSchema, describeState));
		paged(learning.command("prices"))
			.description("a campaign's numbers, and its prices over time")
			.argument("<campaign>", "its id")
			.action((campaign: string, { limit, cursor, ...options }: PageOptions) =>
				show(options, `/prices${queryOf({ campaign, limit, cursor })}`, pricesSchema, describePrices, namesOf(["limit", "cursor"])),
			);
		paged(learning.command("advice"))
			.description("what learned prices would change, the costliest first")
			.option("--campaign <id>", "of this one alone")
			.action(({ limit, cursor, campaign, ...options }: PageOptions & { campaign?: string }) =>
				show(
					options,
					`/advice${queryOf({ campaign, limit, cursor })}`,
					adviceSchema,
					describeAdvice,
					namesOf(["campaign", "limit", "cursor"]),
					async ({ data }) => {
						if (data.length === 0) await refuseUnknown(options, { campaign });
					},
				),
			);
		withChangeOptions(learning.command("accept"))
			.description("make learned numbers the operator's; undone as an import is")
			.argument("[campaigns...]", "ids of campaigns")
			.option("--all", "all that is advised")
			.option("--if-match <version>", "only where the network is still at this version")
			.action(accept);
		withServerOptions(learning.command("rebuild"))
			.description("make what prices are learned from again, from clicks and conversions")
			.action(rebuild);
	},
};

function paged(command: Command): Command {
	return withServerOptions(command)
		.option("--limit <count>", "a page, at most 1000")
		.option("--cursor <cursor>", "where the page before ended");
}

function queryOf(given: Readonly<Record<string, string | undefined>>): string {
	const named = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
	return named.length === 0 ? "" : `?${new URLSearchParams(named)}`;
}

async function show<Answer>(
	options: ServerOptions,
	path: string,
	schema: v.GenericSchema<unknown, Answer>,
	describe: (answer: Answer) => string[],
	names: Names = {},
	assertThere: (answer: Answer) => Promise<void> = async () => {},
): Promise<void> {
	const answer = take(schema, await callOperator(targetOf(options), `/operator/learning${path}`, null), { names });
	if (options.json) console.log(JSON.stringify(answer, null, 2));
	await assertThere(answer);
	if (!options.json) console.log(describe(answer).join("\n"));
}

async function accept(campaigns: string[], { all, ifMatch, ...options }: AcceptOptions): Promise<void> {
	if ((campaigns.length === 0) === (all !== true)) throw new Failure("Name campaigns, or give --all.");
	const unreadable = campaigns.find((id) => !/^\d{1,15}$/.test(id));
	if (unreadable !== undefined) throw new Failure(`${unreadable} is no campaign's id.`);
	const body = { campaigns: all ? "all" : campaigns.map(Number) };
	await sendChange("/operator/learning/advice/accept", body, options, ofVersion(ifMatch));
}

/** A request rebuilds some weeks: asks until all are done. */
async function rebuild(options: ServerOptions): Promise<void> {
	const total = { weeks: 0, weeks_left: 0 };
	const end = showLine("Rebuilding …", () => `Rebuilding: ${counted(total.weeks, "week")}`);
	try {
		for (let cursor: string | null | undefined; cursor !== null; ) {
			const answer = await callOperator(targetOf(options), "/operator/learning/rebuild", JSON.stringify({ cursor }));
			const { weeks, weeks_left, next_cursor } = take(rebuiltSchema, answer, {
				stands: "Weeks that were rebuilt stand: give the command again. See the server's log.",
				isBegun: cursor !== undefined,
			});
			total.weeks += weeks;
			total.weeks_left += weeks_left;
			cursor = next_cursor;
		}
	} finally {
		end();
	}
	const left =
		total.weeks_left > 0
			? ` ${countedAs(total.weeks_left, "stays as it was summed up: clicks of it", "stay as they were summed up: clicks of theirs")} have been removed since.`
			: "";
	console.log(
		options.json ? JSON.stringify(total, null, 2) : `Rebuilt ${counted(total.weeks, "week")} of clicks and what they have earned.${left}`,
	);
}

function describeState({ mode, night, publishing, campaigns, platforms, breaks }: LearningState): string[] {
	return [
		`mode of the network: ${mode}`,
		`campaigns: ${campaigns.automatic} automatic, ${campaigns.advise} advise, ${campaigns.off} off; ${campaigns.learned} have clicks that tell of them`,
		night.finished_at === null
			? "nothing was learned yet"
			: `learned of clicks before ${night.learned_until}, done ${night.finished_at} (${counted(night.age_hours ?? 0, "hour")} ago)`,
		...(night.running === null ? [] : [`the night of ${night.running.day} is not done: begun ${night.running.started_at}`]),
		...(night.fault === null ? [] : [`it failed of: ${night.fault.message}; prices stay as they are`]),
		...(publishing.fault === null
			? []
			: [`the hour of ${publishing.fault.at} failed of: ${publishing.fault.message}; prices and guards stay as they are`]),
		...platforms.map(
			({ platform, conversions, stated, arrivals }) =>
				`  ${platform}: ${counted(conversions, "conversion")}${stated ? ", a stated curve" : ""}; arrived by day ${arrivals
					.filter(({ days }) => [1, 7, 30].includes(days))
					.map(({ days, part }) => `${days}: ${percent(part)}`)
					.join(", ")}`,
		),
		...breaks.map(
			({ campaign_id, day, z, expected_conversions, earned_conversions }) =>
				`  campaign ${campaign_id} broke by ${day}: ${counted(earned_conversions, "conversion")} where ${countedAs(expected_conversions, "was", "were")} expected (z ${z})`,
		),
	];
}

function describePrices({ campaign_id, brand, mode, pinned, released_at, numbers, campaign, data, next_cursor }: Prices): string[] {
	return [
		`campaign ${campaign_id} of ${brand}: ${mode}${pinned ? ", pinned" : ""}${released_at === null ? "" : `, set out from the operator's numbers ${released_at}`}`,
		...(campaign === null ? ["nothing was learned of it"] : [`  ${describeEvidence(campaign)}`]),
		...numbers.map(
			({ keyword, operator_epc, epc, learned_epc }) =>
				`  ${nameOf(keyword)}: operator ${operator_epc ?? "none"}, in force ${epc ?? "none"}, learned ${learned_epc ?? "none"}`,
		),
		...data.map(({ at, keyword, operator_epc, epc, cause }) => `${at}  ${nameOf(keyword)}  ${operator_epc} → ${epc}  ${cause.why}`),
		...(next_cursor === null ? [] : [`There are more: --cursor ${next_cursor}`]),
	];
}

function describeAdvice({ data, version, next_cursor }: Advice): string[] {
	return [
		...(data.length > 0
			? [`at version ${version} of the network:`]
			: [next_cursor === null ? "There is none." : "None among those that were looked at."]),
		...data.flatMap(({ campaign_id, brand, numbers, worth_a_week, evidence }) => [
			`campaign ${campaign_id} of ${brand}: ${worth_a_week} USD a week for the same clicks`,
			...numbers.map(({ field, operator, learned, factor }) => `    ${field}: ${operator} → ${learned} (× ${factor})`),
			`    ${describeEvidence(evidence)}`,
		]),
		...(next_cursor === null ? [] : [`There may be more: --cursor ${next_cursor}`]),
	];
}

function describeEvidence({
	factor,
	clicks,
	expected,
	earned,
	expected_conversions,
	earned_conversions,
	weight,
	maturity,
}: Evidence): string {
	return `factor ${factor}: ${counted(clicks, "click")}, expected ${expected} USD (${counted(expected_conversions, "conversion")}), earned ${earned} USD (${earned_conversions}), weight ${percent(weight)}, known ${percent(maturity)}`;
}

function nameOf(keyword: string | null): string {
	if (keyword === null) return "without a keyword";
	if (keyword === "*") return "any keyword";
	return keyword === "*listed" ? "listed keywords" : keyword;
}

function percent(part: number): string {
	return `${Math.round(part * 100)} %`;
}
