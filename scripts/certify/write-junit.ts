/** A report as JUnit XML, which CI systems show. */
import type { Verdict } from "./rule.ts";

/** @param groups verdicts by what they are about */
export function writeJunit(groups: Readonly<Record<string, readonly Verdict[]>>): string {
	const suites = Object.entries(groups).map(([group, verdicts]) => {
		const count = (outcome: Verdict["outcome"]) => verdicts.filter((verdict) => verdict.outcome === outcome).length;
		const cases = verdicts.map((verdict) => writeCase(group, verdict));
		const counts = `tests="${verdicts.length}" failures="${count("fail")}" skipped="${count("not checked")}"`;
		return `<testsuite name="${escapeXml(group)}" ${counts}>\n${cases.join("")}</testsuite>\n`;
	});
	return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="certify">\n${suites.join("")}</testsuites>\n`;
}

function writeCase(group: string, { rule, outcome, sent, faults }: Verdict): string {
	const open = `<testcase classname="${escapeXml(group)}" name="${escapeXml(rule)}"`;
	if (outcome === "pass") return `${open}/>\n`;
	const [first = ""] = faults;
	if (outcome === "not checked") return `${open}><skipped message="${escapeXml(first)}"/></testcase>\n`;
	return `${open}><failure message="${escapeXml(first)}">${escapeXml([`sent ${sent}`, ...faults].join("\n"))}</failure></testcase>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML has no character for what is no Unicode text, nor for most controls. */
function escapeXml(text: string): string {
	const allowed = text.toWellFormed().replaceAll(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
	return allowed.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
