import * as v from "valibot";
import { Failure } from "../../local/failure.ts";
import { callOperator } from "../call-operator.ts";
import { type OperatorCommand, readOrigin, type ServerOptions, withServerOptions } from "../command.ts";
import { findKey } from "../find-key.ts";

/** `trace`: the whole way of a sale, from the click to the last callback attempt. */
export const command: OperatorCommand = {
	name: "trace",
	add(program) {
		withServerOptions(program.command("trace"))
			.description("say what became of a click or transaction: postbacks, events, callbacks")
			.argument("<id>", "click hash, publisher's click id, or a platform's transaction id")
			.action(trace);
	},
};

const text = v.nullable(v.string());
const amount = v.nullable(v.string());

const traceSchema = v.object({
	truncated: v.boolean(),
	clicks: v.array(
		v.looseObject({
			click_hash: v.string(),
			reason: text,
			clicked_at: v.string(),
			publisher: text,
			publisher_click_id: text,
			brand: text,
			campaign_id: v.number(),
			platform: text,
			pricing_model: text,
		}),
	),
	postbacks: v.array(
		v.looseObject({
			received_at: v.string(),
			platform: text,
			method: v.string(),
			query: v.string(),
			outcome: v.string(),
			answer: v.unknown(),
		}),
	),
	conversions: v.array(
		v.looseObject({
			platform: v.string(),
			txnid: v.string(),
			stage: v.string(),
			status: v.string(),
			test: v.boolean(),
			payout: amount,
			currency: v.string(),
			publisher_revenue: amount,
			publisher: text,
			attribution: text,
			why: v.optional(text, null),
			events: v.array(
				v.looseObject({ at: v.string(), kind: v.string(), set: v.record(v.string(), v.unknown()), why: v.optional(v.string()) }),
			),
			callbacks: v.array(
				v.looseObject({
					status: v.string(),
					payout: amount,
					state: v.string(),
					created_at: v.string(),
					next_attempt_at: text,
					attempts: v.array(
						v.looseObject({ at: v.string(), http_status: v.nullable(v.number()), latency_ms: v.number(), answer: v.string() }),
					),
				}),
			),
		}),
	),
});

type Trace = v.InferOutput<typeof traceSchema>;

async function trace(id: string, options: ServerOptions): Promise<void> {
	const target = { origin: readOrigin(options.url), ...findKey(options.keyFile) };
	const answer = await callOperator(target, "/operator/trace", JSON.stringify({ id }));
	if (answer.status !== 200) {
		throw new Failure(`The server could not trace this: HTTP ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`);
	}
	if (options.json) return console.log(JSON.stringify(answer.body, null, 2));
	const found = v.safeParse(traceSchema, answer.body);
	if (!found.success) throw new Failure("The server's answer is not one this CLI knows. Use --json to see it as it is.");
	console.log(describeTrace(id, found.output));
}

function describeTrace(id: string, { truncated, clicks, postbacks, conversions }: Trace): string {
	if (clicks.length + postbacks.length + conversions.length === 0) {
		return `Nothing is known of ${id}: no such click, and no platform has reported it (to a valid key or not).`;
	}
	const lines: string[] = [];
	for (const click of clicks) {
		const who = `publisher ${click.publisher ?? "unknown"}${click.publisher_click_id === null ? "" : ` (its click id ${click.publisher_click_id})`}`;
		const kind = click.reason === null ? "billed" : `not billed: ${click.reason}`;
		lines.push(`${click.clicked_at}  click ${click.click_hash}, ${kind}`);
		lines.push(
			`    ${who}, ${click.brand ?? "unknown brand"}, campaign ${click.campaign_id}, platform ${click.platform ?? "none"}, ${click.pricing_model ?? "no pricing model"}`,
		);
	}
	for (const { received_at, platform, method, query, outcome, answer } of postbacks) {
		lines.push(
			`${received_at}  postback ${outcome}, ${method} from ${platform ?? "an unknown key"}`,
			`    ${query}`,
			`    answered ${JSON.stringify(answer)}`,
		);
	}
	for (const conversion of conversions) lines.push(...describeConversion(conversion));
	if (truncated) lines.push("There is more: only the newest hundred of each are shown.");
	return lines.join("\n");
}

function describeConversion(conversion: Trace["conversions"][number]): string[] {
	const { platform, txnid, stage, status, test, payout, currency, publisher_revenue, publisher, attribution, why, events, callbacks } =
		conversion;
	const lines = [`Transaction ${txnid} of ${platform}: ${stage}, ${status}${test ? ", a test" : ""}`];
	lines.push(
		`    payout ${payout} ${currency}, earns ${publisher ?? "no publisher yet"} ${publisher_revenue === null ? "nothing yet" : `${publisher_revenue} USD`}`,
	);
	lines.push(
		`    ${attribution === null ? `no click found${why === null ? "" : `: ${why.replaceAll("_", " ")}`}` : `click found by ${attribution.replaceAll("_", " ")}`}`,
	);
	for (const { at, kind, set, why } of events)
		lines.push(`    ${at}  ${kind}${why === undefined ? "" : ` (${why})`} ${JSON.stringify(set)}`);
	if (callbacks.length === 0) lines.push("    no callback");
	for (const callback of callbacks) {
		const next = callback.next_attempt_at === null ? "" : `, next attempt ${callback.next_attempt_at}`;
		lines.push(`    ${callback.created_at}  callback ${callback.status} of ${callback.payout} USD: ${callback.state}${next}`);
		for (const { at, http_status, latency_ms, answer } of callback.attempts) {
			lines.push(`        ${at}  ${http_status === null ? "no answer" : `HTTP ${http_status}`} after ${latency_ms} ms: ${answer}`);
		}
	}
	return lines;
}
