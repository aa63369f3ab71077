/** Sends each rule's request, one after the other, and judges the answers. Click URLs are read, never called. */
import { errorCode } from "../local/failure.ts";
import type { Answer, Rule, Sent, Subject, Verdict } from "./rule.ts";

const TIMEOUT_MS = 10_000;
const SHOWN = 300;

export async function send(origin: string, { method, path, body, headers }: Sent): Promise<Answer> {
	const startedAt = performance.now();
	const response = await fetch(`${origin}${path}`, {
		method,
		redirect: "manual",
		signal: AbortSignal.timeout(TIMEOUT_MS),
		...(headers !== undefined && { headers }),
		...(body !== undefined && { body }),
	});
	const text = await response.text();
	return { status: response.status, headers: response.headers, text, milliseconds: performance.now() - startedAt };
}

/** Why {@link send} failed: by what is behind it, since fetch() says only that it did. */
export function whyUnanswered(error: unknown): string {
	if (!(error instanceof Error)) return String(error);
	return errorCode(error) ?? (error.cause instanceof Error ? error.cause.message : error.message);
}

/** How what a rule may need is given. */
const OPTIONS = { publisherId: "--publisher-id", keyword: "--keyword", deeplink: "--deeplink", supplyChain: "--schain" } as const;

export async function runRules(origin: string, rules: readonly Rule[], subject: Subject): Promise<Verdict[]> {
	const verdicts: Verdict[] = [];
	let asked = 0;
	const nextOf = (): Subject => ({ ...subject, auctionId: `${subject.auctionId}-${++asked}` });
	for (const rule of rules) {
		const { name, needs = [] } = rule;
		const lacking = needs.filter((each) => subject[each] === null).map((each) => OPTIONS[each]);
		verdicts.push(
			lacking.length > 0
				? { rule: name, outcome: "not checked", sent: "", faults: [`needs ${lacking.join(" and ")}`] }
				: await judge(origin, rule, nextOf),
		);
	}
	return verdicts;
}

function shorten(fault: string): string {
	return fault.length > SHOWN ? `${fault.slice(0, SHOWN)}…` : fault;
}

/** @param nextOf the subject, with the id of the next auction */
async function judge(origin: string, rule: Rule, nextOf: () => Subject): Promise<Verdict> {
	let written = "";
	const ask = (sent: Sent): Promise<Answer> => {
		written = `${sent.method} ${sent.path}${typeof sent.body === "string" ? ` ${sent.body}` : ""}`.slice(0, SHOWN);
		return send(origin, sent);
	};
	let faults: string[];
	try {
		const before = nextOf();
		const first = rule.first === undefined ? null : await ask(rule.first(before));
		faults = first === null ? [] : (rule.lacks?.(first) ?? []);
		if (faults.length === 0) {
			const subject = rule.isRepeated ? before : nextOf();
			faults = rule.check(await ask(rule.send(subject, first)), subject, first);
		}
	} catch (error) {
		faults = [`no answer: ${whyUnanswered(error)}`];
	}
	// What is wrong may be as long as the answer.
	return { rule: rule.name, outcome: faults.length === 0 ? "pass" : "fail", sent: written, faults: faults.map(shorten) };
}
