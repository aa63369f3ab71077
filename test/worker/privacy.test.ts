/** Whose signals say no: nothing of them in the bid's answer, its token, the click's message, or any row; the money is as it was. */
import { env, exports } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { ClickTokens } from "../../src/click-token/token.ts";
import type { RedirectDeps } from "../../src/clicks/deps.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import { RecentVisits } from "../../src/clicks/recent-visits.ts";
import { routeClick } from "../../src/clicks/redirect-route.ts";
import { rowsOf } from "../support/click-messages.ts";
import { BROWSER, clickRows } from "../support/clicks.ts";
import { ALLOWING, gppString, tcString } from "../support/consents.ts";
import { forgetTraffic } from "../support/forget-traffic.ts";
import { findClickUrl } from "../support/golden/normalise.ts";
import { openClick } from "../support/golden/open-click.ts";
import { brandEntry, importExactly, NORTHWIND } from "../support/network-import.ts";
import { openStoredBook } from "../support/stored-book.ts";
import { CPC, call, linkTo, outcomes, servingEngineUrl } from "../support/traffic.ts";

const SHOES = "shoes.example";
const IP = "203.0.113.77";
const USER = "user-7f3a";
const BUYER = "buyer-51cc";
const SEARCH = "running shoes";
const CLICKER = { "cf-connecting-ip": IP, "user-agent": BROWSER };

async function setPublisher(fields: object): Promise<void> {
	await importExactly({
		platforms: [NORTHWIND],
		publishers: [{ ...CPC, traffic: null, privacy: null, ...fields }],
		brands: [brandEntry(SHOES, 5001, {}, { keyword_epc: { [SEARCH]: "0.6000" } }), brandEntry("boots.example", 5002)],
	});
}

/** The answer to a bid request of a known user, with further fields. */
function bid({ device, user, ...further }: Record<string, unknown>): Promise<Response> {
	return exports.default.fetch("http://rtb.example/openrtb/acme_rtb", {
		method: "POST",
		headers: { "cf-connecting-ip": IP },
		body: JSON.stringify({
			id: "auction",
			imp: [{ id: "1", tagid: "slot-2" }],
			site: { domain: SHOES },
			...further,
			device: { ip: IP, ua: BROWSER, ...(device as object) },
			user: { id: USER, buyeruid: BUYER, keywords: SEARCH, ...(user as object) },
		}),
	});
}

async function urlOf(response: Response): Promise<string> {
	const url = findClickUrl(await response.json());
	if (url === null) throw new Error("no bid");
	return url;
}

const sent: ClickMessage[] = [];
const deps: RedirectDeps = {
	book: openStoredBook({}),
	tokens: new ClickTokens(env.TOKEN_KEYS.split(",")),
	store: {
		sender: { send: async (message) => void sent.push(message) },
		connectionKey: "key",
		limits: { address: undefined, token: undefined, stripped: undefined },
		visits: new RecentVisits(),
	},
	clickTtlMs: 86_400_000,
	now: () => Date.now(),
	measure: undefined,
};

/** The message of a click. @throws Error where there is none */
async function messageOf(url: string, headers: Record<string, string>): Promise<ClickMessage> {
	sent.length = 0;
	const background: Promise<unknown>[] = [];
	const store = { ...deps.store, visits: new RecentVisits() };
	await routeClick({ ...deps, store }, new Request(url, { headers }), url, (promise) => void background.push(promise));
	await Promise.all(background);
	const [message] = sent;
	if (message === undefined) throw new Error("no click was recorded");
	return message;
}

/** Fields of a message by which a user could be found. */
const PERSONAL = ["ipPrefix", "userAgentHash", "connection", "keyword", "askedFrom"] as const;

function expectNobody(value: unknown): void {
	const text = typeof value === "string" ? value : JSON.stringify(value);
	for (const trace of ["203.0.113", String(0xcb00714d), USER, BUYER, SEARCH]) expect(text).not.toContain(trace);
}

beforeEach(async () => {
	await forgetTraffic();
	await setPublisher({});
});

describe("worker: a bid whose signals say no", () => {
	const refusing = fc.oneof(
		fc.constantFrom(1, "1", true, 2, [], {}).map((coppa) => ({ regs: { coppa } })),
		fc.constantFrom("lmt", "dnt").map((name) => ({ device: { [name]: 1 } })),
		fc.tuple(fc.constantFrom("1YYN", "1Y", "1YNN1", "\ud800"), fc.boolean()).map(([text, isOld]) => ({
			regs: isOld ? { ext: { us_privacy: text } } : { us_privacy: text },
		})),
		fc
			.uniqueArray(fc.constantFrom<number>(1, 2, 3, 7, 9))
			.filter((given) => ![1, 2, 7].every((purpose) => given.includes(purpose)))
			.map((purposes) => ({
				regs: { gdpr: 1 },
				user: { consent: tcString({ purposes }) },
			})),
		fc
			.integer({ min: 1, max: ALLOWING.indexOf(".") - 4 })
			.map((end) => ({ regs: { ext: { gdpr: 1 } }, user: { ext: { consent: ALLOWING.slice(0, end) } } })),
		fc.constantFrom("SaleOptOut", "SharingOptOut", "TargetedAdvertisingOptOut").map((field) => ({
			regs: { gpp: gppString({ usnat: { [field]: 1 } }), gpp_sid: [7] },
		})),
		fc.constant({ regs: { gdpr: 1 }, user: { consent: "C".repeat(100_000) } }),
	);

	it("tells nobody who it was for, and neither does its click", async () => {
		await fc.assert(
			fc.asyncProperty(refusing, fc.constantFrom({}, { publisher: { id: "pub-5" } }), async (signals, site) => {
				const response = await bid({ ...signals, site: { domain: SHOES, ...site } });
				expect(response.status).toBe(200);
				const text = await response.clone().text();
				expectNobody(decodeURIComponent(text));
				const url = await urlOf(response);
				const { token, params } = await openClick(url);
				expectNobody(token);
				expect(token).toMatchObject({ device: null, keyword: null, askedFrom: null, stripped: true, bidMicros: 300_000 });
				expect(params.map(([name]) => name)).toEqual([...("publisher" in site ? ["clickid"] : []), "subi", "pli", "cc"]);
				const message = await messageOf(`${url}&uid=${BUYER}&subid1=${USER}`, CLICKER);
				expectNobody(message);
				for (const field of PERSONAL) expect(message[field]).toBeUndefined();
				expect(message).toMatchObject({ reason: undefined, bidMicros: 300_000, texts: { subi: "slot-2" } });
			}),
			{ numRuns: Number(env.PROPERTY_RUNS) || 40 },
		);
	});

	it("has a row with its money and nothing else, and no visit", async () => {
		const url = await urlOf(await bid({ regs: { coppa: 1 } }));
		await call(url, CLICKER);
		const [row] = await clickRows({ count: 1 });
		expect(row).toMatchObject({
			reason: null,
			revenue_micros: 300_000,
			source_id: "slot-2",
			ip_prefix: null,
			user_agent_hash: null,
			uid: null,
		});
		expect(row).toMatchObject({ publisher_click_id: null, keyword: null, asked_from: null });
		expectNobody(row);
		expect(await rowsOf("SELECT * FROM paid_visits UNION ALL SELECT connection, hour, stored, dropped, 0, 0, 0 FROM unpaid_hours")).toEqual(
			[],
		);
	});

	it("is as before where its publisher has all passed on as sent, and none where it wants none", async () => {
		await setPublisher({ privacy: "as_sent" });
		const url = await urlOf(await bid({ regs: { coppa: 1 } }));
		expect((await openClick(url)).params.map(([name]) => name)).toEqual(["clickid", "uid", "subi", "ip", "pli", "cc"]);
		await call(url, { ...CLICKER, "sec-gpc": "1" });
		expect(await clickRows({ count: 1 })).toMatchObject([
			{ publisher_click_id: USER, uid: BUYER, ip_prefix: "203.0.113.0/24", keyword: SEARCH },
		]);
		await setPublisher({ privacy: "no_bid" });
		expect((await bid({ regs: { coppa: 1 } })).status).toBe(204);
		expect((await bid({ regs: { coppa: 0 } })).status).toBe(200);
	});
});

describe("worker: a click whose signals say no", () => {
	it("keeps nothing of the user, whatever its link has", async () => {
		const link = `${(await linkTo(SHOES)).replace(/&(?:clickid|subid1|psorc)=[^&]*/g, "")}&clickid=own-1&subid1=${USER}&uid=${BUYER}&psorc=news`;
		const url = await urlOf(await bid({}));
		for (const [search, gpc] of [
			["", "1"],
			["&us_privacy=1YYN", "0"],
			["&gdpr=1", "0"],
			[`&gdpr=1&gdpr_consent=${tcString({ purposes: [2] })}`, "0"],
		]) {
			const headers = { ...CLICKER, "sec-gpc": String(gpc) };
			for (const message of [await messageOf(`${link}${search}`, headers), await messageOf(`${url}${search}`, headers)]) {
				expectNobody(message);
				for (const field of PERSONAL) expect(message[field]).toBeUndefined();
			}
			// The publisher's own id of a click is what it is paid by.
			const own = await messageOf(`${await urlOf(await bid({ site: { domain: SHOES, publisher: { id: "pub-5" } } }))}${search}`, headers);
			expect(own.texts).toEqual({ clickid: "pub-5", subi: "slot-2" });
			expect((await messageOf(`${link}${search}`, headers)).texts).toEqual({ clickid: "own-1", psorc: "news" });
			expect((await messageOf(`${url}${search}`, headers)).texts).toEqual({ subi: "slot-2" });
		}
		const plain = await messageOf(`${link}&gdpr=1&gdpr_consent=${ALLOWING}&us_privacy=1YNN`, { ...CLICKER, "sec-gpc": "0" });
		expect(plain).toMatchObject({ ipPrefix: "203.0.113.0/24", texts: { uid: BUYER, subid1: USER } });
		expect(plain.connection).toHaveLength(16);
	});

	it("is held against others of its visitor in memory alone", async () => {
		const other = { "cf-connecting-ip": "198.51.100.9", "user-agent": BROWSER };
		const gpc = { ...other, "sec-gpc": "1" };
		const link = await linkTo(SHOES);
		for (const url of [link, link, await linkTo("boots.example")]) await call(url, gpc);
		expect(await outcomes(3)).toEqual({ paid: 2, repeat: 1 });
		await call(await servingEngineUrl(SHOES, "&us_privacy=1YYN"), { ...other, "user-agent": `${BROWSER} other` });
		expect(await outcomes(4)).toEqual({ paid: 3, repeat: 1 });
		expect(await rowsOf("SELECT * FROM paid_visits")).toEqual([]);
		expect(await rowsOf("SELECT * FROM unpaid_hours")).toEqual([]);
	});
});

it("worker: no request with signals of any kind is answered with an error", async () => {
	const value = fc.oneof(
		fc.anything({ maxDepth: 3 }),
		fc.string({ unit: "binary" }),
		fc.constantFrom(ALLOWING, "x".repeat(100_000), "[".repeat(1_000)),
	);
	const fields = (names: string[]) => fc.dictionary(fc.constantFrom(...names), value);
	const regs = fc.oneof(
		value,
		fields(["coppa", "gdpr", "us_privacy", "gpp", "gpp_sid", "gpc", "ext"]),
		fields(["gdpr", "gpp"]).map((ext) => ({ ext })),
	);
	await fc.assert(
		fc.asyncProperty(regs, fields(["lmt", "dnt", "ext"]), fields(["consent", "ext"]), async (of, device, user) => {
			expect([200, 204, 400, 413]).toContain((await bid({ regs: of, device, user })).status);
		}),
		{ numRuns: Number(env.PROPERTY_RUNS) || 60 },
	);
	for (const name of ["gdpr", "gdpr_consent", "us_privacy", "gpp", "gpp_sid", "coppa", "lmt"]) {
		for (const text of ["%", "%ED%A0%80", "1".repeat(8_000), "%5B%5D", "~~~", `${"&".repeat(50)}${name}=0`]) {
			const response = await exports.default.fetch(
				`http://rtb.example/serving-engine?pubi=${CPC.publisher_id}&bd=${SHOES}&cc=US&${name}=${text}`,
			);
			expect(response.status).toBe(200);
			expect((await response.json<{ status: number }>()).status).toBe(1);
		}
	}
});
