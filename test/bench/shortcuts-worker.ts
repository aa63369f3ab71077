/**
 * Bench-only Worker: each shortcut of the bid path and the redirect beside the plain code that it stands for, many times per HTTP
 * request, because clocks stand still inside one.
 *
 * POST /{stage}?times=N; `{name}` is the shortcut, `{name}_plain` what it replaces.
 */
import { isbot } from "isbot";
import { hashUserAgent } from "../../src/clicks/hash-user-agent.ts";
import { isBot } from "../../src/clicks/user-agent.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { decodeText, Query } from "../../src/lib/query.ts";
import { localDay, localHour } from "../../src/lib/time.ts";

/** Many values, so that no cache of the engine answers for them. */
const TEXTS = Array.from({ length: 512 }, (_, at) => `site-${4_711 * at}-${at.toString(36)}`);
const SEARCHES = TEXTS.map(
	(text) =>
		`encyp=${"AbCdEfGh".repeat(20)}&rtuli=5f0c0d3a-8a2f-4c7d-9b65-2a1f0e9d8c7b&clickid=${text}&subi=slot-9&ip=3405803783&pli=7&cc=US`,
);
const AGENTS = TEXTS.map((text) => `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/${text}`);
const NOW = 1_780_000_000_000;
const ZONE = "America/New_York";
const HOURS = new Intl.DateTimeFormat("en-US", { timeZone: ZONE, hour: "numeric", hourCycle: "h23" });
const DAYS = new Intl.DateTimeFormat("en-CA", { timeZone: ZONE, year: "numeric", month: "2-digit", day: "2-digit" });

const of = (values: readonly string[], at: number) => values[at & 511] as string;

const STAGES: Record<string, (at: number) => unknown> = {
	empty: (at) => of(TEXTS, at),
	query: (at) => new Query(of(SEARCHES, at)).get("encyp"),
	query_plain: (at) => new URLSearchParams(of(SEARCHES, at)).get("encyp"),
	decode_text: (at) => decodeText(of(TEXTS, at)),
	decode_text_plain: (at) => decodeURIComponent(of(TEXTS, at).replaceAll("+", " ")).toWellFormed(),
	local_hour: (at) => localHour(ZONE, NOW + at),
	local_hour_plain: (at) => Number(HOURS.format(NOW + at)),
	local_day: (at) => localDay(ZONE, NOW + at),
	local_day_plain: (at) => DAYS.format(NOW + at),
	is_bot: (at) => isBot(of(AGENTS, at)),
	is_bot_plain: (at) => isbot(of(AGENTS, at)),
	hash_user_agent: (at) => hashUserAgent(of(AGENTS, at)),
	hash_user_agent_plain: (at) => sha256Hex(of(AGENTS, at)).then((hash) => hash.slice(0, 16)),
};

/** Where results go, so that nothing is optimised away. */
let sink: unknown;

export default {
	async fetch(request) {
		const url = new URL(request.url);
		const run = STAGES[url.pathname.slice(1)];
		if (run === undefined) return new Response("no such stage", { status: 404 });
		const times = Number(url.searchParams.get("times"));
		for (let at = 0; at < times; at++) {
			const result = run(at);
			sink = result instanceof Promise ? await result : result;
		}
		return new Response(String(sink === null));
	},
} satisfies ExportedHandler;
