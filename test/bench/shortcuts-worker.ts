/**
 * Bench-only Worker: each shortcut of the bid path and the redirect beside the plain code that it stands for, many times per HTTP
 * request, because clocks stand still inside one.
 *
 * POST /{stage}?times=N; `{name}` is the shortcut, `{name}_plain` what it replaces.
 */
import { isbot } from "isbot";
import { buildClickUrl, type ClickParameters } from "../../src/click-token/click-url.ts";
import { hashConnection } from "../../src/clicks/hash-connection.ts";
import { hashUserAgent } from "../../src/clicks/hash-user-agent.ts";
import { sha256Hex } from "../../src/lib/bytes.ts";
import { readWebAddress } from "../../src/lib/host.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { decodeText, Query } from "../../src/lib/query.ts";
import { localDay, localHour } from "../../src/lib/time.ts";
import { isBot } from "../../src/lib/user-agent.ts";
import { type Fill, writeFill } from "../../src/openrtb/write-response.ts";

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

const PAGES = TEXTS.map((text) => `https://news.example/2026/11/${text}.html?from=home`);
const UUID = "5f0c0d3a-8a2f-4c7d-9b65-2a1f0e9d8c7b";

const FILL: Fill = {
	requestId: "auction-4711",
	bidId: UUID,
	seat: "acme-seat",
	impId: "1",
	price: 0.4321,
	clickUrl: `https://click.example/click?${SEARCHES[0]}`,
	advertiserDomain: "shoes.example",
	advertiserId: 4711,
	finalUrl: PAGES[0] ?? "",
	altered: false,
};
const PARAMETERS: ClickParameters = {
	rtuli: UUID,
	clickid: "site",
	uid: null,
	dl: null,
	subi: "slot-9",
	ip: 3_405_803_783,
	pli: 7,
	cc: "US",
	test: false,
};

const of = (values: readonly string[], at: number) => values[at & 511] as string;

const STAGES: Record<string, (at: number) => unknown> = {
	empty: (at) => of(TEXTS, at),
	new_uuid: () => newUuid(),
	new_uuid_plain: () => crypto.randomUUID(),
	web_address: (at) => readWebAddress(of(PAGES, at)),
	web_address_plain: (at) => URL.canParse(of(PAGES, at).trim().toWellFormed().replaceAll(" ", "%20")),
	click_url: (at) => buildClickUrl("https://click.example", UUID, { ...PARAMETERS, clickid: of(TEXTS, at) }),
	click_url_plain: (at) => buildPlainUrl("https://click.example", UUID, { ...PARAMETERS, clickid: of(TEXTS, at) }),
	write_fill: (at) => writeFill({ ...FILL, requestId: of(TEXTS, at) }),
	write_fill_plain: (at) => writePlainFill({ ...FILL, requestId: of(TEXTS, at) }),
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
	hash_connection: (at) => hashConnection(UUID, of(TEXTS, at)),
	hash_connection_plain: (at) => sha256Hex(`connection ${UUID} ${of(TEXTS, at)}`).then((hash) => hash.slice(0, 16)),
};

function buildPlainUrl(clickUrl: string, encyp: string, { rtuli, clickid, subi, ip, pli, cc }: ClickParameters): string {
	let url = `${clickUrl}/click?encyp=${encyp}&rtuli=${rtuli}`;
	if (clickid !== null) url += `&clickid=${encodeURIComponent(clickid.toWellFormed())}`;
	if (subi !== null) url += `&subi=${encodeURIComponent(subi.toWellFormed())}`;
	return `${url}&ip=${ip}&pli=${pli}&cc=${encodeURIComponent(cc.toWellFormed())}`;
}

const FILL_HEADERS = new Headers({ "content-type": "application/json", "x-openrtb-version": "2.5" });

function writePlainFill({
	requestId,
	bidId,
	seat,
	impId,
	price,
	clickUrl,
	advertiserDomain,
	advertiserId,
	finalUrl,
	altered,
}: Fill): Response {
	const bid = {
		id: bidId,
		impid: impId,
		price,
		adm: JSON.stringify({ native: { link: { url: clickUrl } } }),
		adomain: advertiserDomain === null ? [] : [advertiserDomain],
		ext: { final_url: finalUrl, altered, advertiser_name: advertiserDomain ?? "", advertiser_id: String(advertiserId) },
	};
	const body = JSON.stringify({ id: requestId, bidid: bidId, cur: "USD", seatbid: [{ seat, bid: [bid] }] });
	return new Response(body, { headers: FILL_HEADERS });
}

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
