/** `npm run certify`: checks a running endpoint against the OpenRTB and Serving Engine rules, and prints a report. */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { post, request } from "./certify/openrtb-asks.ts";
import { openRtbRules, type Profile } from "./certify/openrtb-rules.ts";
import { parseUrl, type Subject, type Verdict } from "./certify/rule.ts";
import { runRules, send, whyUnanswered } from "./certify/run-rules.ts";
import { SERVING_ENGINE_RULES } from "./certify/serving-engine-rules.ts";
import { readSupplyChain } from "./certify/supply-chain.ts";
import { writeJunit } from "./certify/write-junit.ts";
import { ACME } from "./demo/well-known.ts";
import { errorCode, Failure, reportFailure } from "./local/failure.ts";
import { guardOutput } from "./local/output.ts";
import { findLocalOrigin } from "./local/running.ts";

type Flags = {
	url?: string;
	identity?: string;
	publisherId?: string;
	domain?: string;
	keyword?: string;
	deeplink?: string;
	schain?: string;
	profile: Profile;
	json?: string;
	junit?: string;
};

const TIMED = 50;
const AUCTION_MS = 100;
const MARKS = { pass: "ok  ", fail: "FAIL", "not checked": "-   " } as const;
/** What rules send as it stands, or put together with something. */
const IDENTITY = /^[A-Za-z0-9_-]{1,64}$/;
const HOST = /^[^\s/\\:@?#[\]]+$/;
const PAGE = /^https?:\/\/[^\s\\]+$/i;
/** A brand and a keyword of the demo network. */
const DEMO = { domain: "shoes.example", keyword: "running shoes", deeplink: "https://www.shoes.example/certify" };

function readSubject({ url = findLocalOrigin(process.env), identity, publisherId, domain, keyword, deeplink, schain }: Flags): {
	origin: string;
	subject: Subject;
} {
	const parsed = parseUrl(url);
	if (parsed === null || !/^https?:$/.test(parsed.protocol) || !/^\/[?#]?$/.test(parsed.href.slice(parsed.origin.length)))
		throw new Failure("--url must be the endpoint's origin, such as http://rtb.example.com.");
	if (identity !== undefined && !IDENTITY.test(identity)) throw new Failure("--identity must be 1 to 64 letters, digits, _ and -.");
	if (domain !== undefined && !HOST.test(domain)) throw new Failure("--domain must be a host, such as shoes.example.");
	if (deeplink !== undefined && !PAGE.test(deeplink))
		throw new Failure("--deeplink must be an http(s) address, such as https://shoes.example/new.");
	for (const [option, value] of Object.entries({ "--publisher-id": publisherId, "--keyword": keyword }))
		if (value?.trim() === "") throw new Failure(`${option} must be no blank text: leave it out, or give a value.`);
	const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname);
	const demo = isLocal && domain === undefined && (identity === undefined || identity === ACME.publisher_identity);
	if (identity === undefined && !demo) throw new Failure("--identity is needed: the Publisher Identity to bid for.");
	if (domain === undefined && !demo)
		throw new Failure("--domain is needed: a brand that bids for this publisher in the US at this hour, without a deeplink.");
	const supplyChain = schain === undefined ? null : readSupplyChain(schain);
	if (schain !== undefined && supplyChain === null)
		throw new Failure("--schain must be a complete supply chain as OpenRTB serializes it, such as 1.0,1!ssp.example,1234,1.");
	return {
		origin: parsed.origin,
		subject: {
			auctionId: `certify-auction-${randomUUID()}`,
			identity: identity ?? ACME.publisher_identity,
			publisherId: publisherId ?? (demo ? ACME.publisher_id : null),
			domain: domain ?? DEMO.domain,
			keyword: keyword ?? (demo ? DEMO.keyword : null),
			deeplink: deeplink ?? (demo ? DEMO.deeplink : null),
			supplyChain,
		},
	};
}

async function save(file: string, report: string): Promise<void> {
	try {
		await writeFile(file, report);
	} catch (error) {
		throw new Failure(`The report cannot be written to ${file}: ${errorCode(error) ?? String(error)}.`);
	}
}

function print(group: string, verdicts: readonly Verdict[]): void {
	console.log(`\n${group}`);
	for (const { rule, outcome, sent, faults } of verdicts) {
		console.log(`  ${MARKS[outcome]} ${rule}${outcome === "not checked" ? ` (${faults.join()})` : ""}`);
		if (outcome === "fail") console.log([`sent ${sent}`, ...faults].map((line) => `         ${line}`).join("\n"));
	}
	const count = (wanted: Verdict["outcome"]) => verdicts.filter(({ outcome }) => outcome === wanted).length;
	console.log(`  ${count("pass")} passed, ${count("fail")} failed, ${count("not checked")} not checked`);
}

/** How long answers take from here, the network included: what an SSP would see; or why that cannot be told. */
async function time(origin: string, subject: Subject): Promise<{ p50: number; p95: number } | string> {
	const times: number[] = [];
	for (let i = 0; i < TIMED; i++) {
		try {
			const { milliseconds } = await send(origin, post(subject, request(subject, { id: `certify-${i}-${subject.auctionId}` })));
			times.push(milliseconds);
		} catch (error) {
			return `${origin} answers no longer: bid ${i + 1} of ${TIMED} that are timed failed (${whyUnanswered(error)}).`;
		}
	}
	times.sort((a, b) => a - b);
	return { p50: times[Math.floor(TIMED / 2)] ?? 0, p95: times[Math.floor(TIMED * 0.95)] ?? 0 };
}

/** Nearly every rule is about a bid. @returns why none can be checked, where the brand does not bid; else null */
async function findNoBid(origin: string, subject: Subject): Promise<string | null> {
	let status: number;
	try {
		({ status } = await send(origin, post(subject, request(subject))));
	} catch (error) {
		return `${origin} does not answer (${whyUnanswered(error)}).\nName one that runs with --url; in a copy of the project, \`npm start\` runs one.`;
	}
	if (status !== 204) return null;
	const { domain, identity, supplyChain } = subject;
	return `${domain} does not bid for ${identity} in the US now, so there is nothing to check. Give another --domain or --identity${supplyChain === null ? ", or a supply chain (--schain) where the publisher asks for one" : " or --schain"}; the operator sees why with \`npm run operator -- explain\`.`;
}

type Report = { groups: Record<string, Verdict[]>; p50: number | null; p95: number | null };

/** Writes the report to the files that were asked for. @throws Failure where one cannot be written */
async function saveReports({ json, junit }: Flags, origin: string, subject: Subject, { groups, p50, p95 }: Report): Promise<void> {
	if (json !== undefined) await save(json, `${JSON.stringify({ origin, subject, groups, p50, p95 }, null, "\t")}\n`);
	if (junit !== undefined) await save(junit, writeJunit(groups));
}

async function certify(flags: Flags): Promise<void> {
	const { origin, subject } = readSubject(flags);
	console.log(`Certifying ${origin} for ${subject.identity} with ${subject.domain}`);
	const noBid = await findNoBid(origin, subject);
	if (noBid !== null) {
		const { method, path } = post(subject, null);
		const found: Verdict = { rule: "the brand bids", outcome: "fail", sent: `${method} ${path}`, faults: [noBid] };
		await saveReports(flags, origin, subject, { groups: { "OpenRTB 2.5": [found] }, p50: null, p95: null });
		throw new Failure(noBid);
	}
	const groups: Record<string, Verdict[]> = {
		"OpenRTB 2.5": await runRules(origin, openRtbRules(flags.profile), subject),
		"Serving Engine": await runRules(origin, SERVING_ENGINE_RULES, subject),
	};
	for (const [group, verdicts] of Object.entries(groups)) print(group, verdicts);
	const times = await time(origin, subject);
	if (typeof times === "string") {
		await saveReports(flags, origin, subject, { groups, p50: null, p95: null });
		throw new Failure(times);
	}
	const { p50, p95 } = times;
	console.log(
		`\nTime of ${TIMED} test bids, one after the other: p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms (an auction lasts about ${AUCTION_MS} ms)`,
	);
	await saveReports(flags, origin, subject, { groups, p50, p95 });
	const failed = Object.values(groups)
		.flat()
		.filter(({ outcome }) => outcome === "fail").length;
	console.log(failed === 0 ? "\nConforms." : `\n${failed} ${failed === 1 ? "rule is" : "rules are"} broken.`);
	if (failed > 0) process.exitCode = 1;
}

guardOutput();
new Command("certify")
	.description("Checks a running endpoint against the rules of the OpenRTB and Serving Engine interfaces. Never calls a click URL.")
	.option("--url <origin>", "the endpoint, such as http://rtb.example.com (otherwise the server that runs in this folder)")
	.option("--identity <identity>", "Publisher Identity of the OpenRTB path")
	.option("--publisher-id <id>", "Publisher Id (pubi); without it the Serving Engine is not checked")
	.option("--domain <domain>", "a brand that bids")
	.option("--keyword <keyword>", "a keyword that bids without a domain")
	.option("--deeplink <url>", "a page of that brand, which its campaign bids on")
	.option("--schain <chain>", "the supply chain to send, where the publisher asks for one: 1.0,1!asi,sid,hp, as OpenRTB serializes it")
	.addOption(new Option("--profile <profile>", "how the publisher's bids are answered").choices(["contract", "full"]).default("contract"))
	.option("--json <file>", "also write the report there")
	.option("--junit <file>", "also write it there as JUnit XML")
	.action(certify)
	.parseAsync()
	.catch(reportFailure);
