/** Sends each rule's request, one after the other, and judges the answers. Click URLs are read, never called. */
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

export async function runRules(origin: string, rules: readonly Rule[], subject: Subject): Promise<Verdict[]> {
	const verdicts: Verdict[] = [];
	for (const rule of rules) {
		const sent = rule.send(subject);
		verdicts.push(
			sent === null
				? { rule: rule.name, outcome: "not checked", sent: "", faults: [] }
				: { rule: rule.name, ...(await judge(origin, rule, sent, subject)) },
		);
	}
	return verdicts;
}

async function judge(origin: string, rule: Rule, sent: Sent, subject: Subject): Promise<Omit<Verdict, "rule">> {
	const written = `${sent.method} ${sent.path}${typeof sent.body === "string" ? ` ${sent.body}` : ""}`.slice(0, SHOWN);
	const faults = await answerFaults(origin, rule, sent, subject);
	return { outcome: faults.length === 0 ? "pass" : "fail", sent: written, faults };
}

async function answerFaults(origin: string, rule: Rule, sent: Sent, subject: Subject): Promise<string[]> {
	let answer: Answer;
	try {
		answer = await send(origin, sent);
	} catch (error) {
		return [`no answer: ${error instanceof Error ? error.message : String(error)}`];
	}
	return rule.check(answer, subject);
}
