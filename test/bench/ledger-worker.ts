/**
 * Bench-only Worker: what the ledger costs, by its consumers. POST /clicks, /conversions, /callbacks and /removal answer what the database
 * read and wrote for it, and its size after it.
 */
import { consumeCallbacks } from "../../src/callbacks/consume-callbacks.ts";
import { consumeClicks } from "../../src/clicks/consumer/consume-clicks.ts";
import { KeptFacts } from "../../src/clicks/consumer/kept-facts.ts";
import type { ClickMessage } from "../../src/clicks/message.ts";
import type { Env } from "../../src/config.ts";
import { consumePostbacks } from "../../src/conversions/consume-postbacks.ts";
import type { ReceivedPostback } from "../../src/conversions/message.ts";
import { openDatabase } from "../../src/db/client.ts";
import { readSize } from "../../src/db/database-size.ts";
import { KeyOwners } from "../../src/keys/key-owners.ts";
import { SecretBox } from "../../src/lib/secret-box.ts";
import { removeOld } from "../../src/retention/remove-old.ts";
import { benchClick } from "./click-messages.ts";
import { countRows } from "./counted-d1.ts";

/** Clicks come so far apart: five a second. */
const GAP_MS = 200;
const DAY_MS = 86_400_000;

const facts = new KeptFacts();

/** Everything that a click on a bid carries; only one whose connection is known is remembered for repeats. */
function clickAt(number: number, campaigns: number, isKnown: boolean): ClickMessage {
	const click = benchClick(number);
	const at = click.at + number * GAP_MS;
	const time = at.toString(16).padStart(12, "0");
	return {
		...click,
		at,
		id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${number.toString(16).padStart(12, "0")}`,
		brandId: (number % campaigns) + 1,
		campaignId: 1_000 + (number % campaigns),
		pricingModel: "CPA",
		sharePpm: 800_000,
		grossMicros: 420_000,
		keyword: "running shoes",
		askedFrom: "198.51.100.0/24",
		...(isKnown && { connection: number.toString(16).padStart(16, "0") }),
	};
}

let sent = 0;

function postbackOf(click: ClickMessage, status: string): ReceivedPostback {
	const receivedAt = Date.now();
	const id = `${receivedAt.toString(16).padStart(12, "0")}-${(++sent).toString(16).padStart(12, "0")}`;
	const [txnid, cid] = [`order-${click.id}`, click.hash];
	const query = `txnid=${txnid}&cid=${cid}&edate=${Math.floor(click.at / 1_000)}&payout=12.25&sales=99.99&status=${status}`;
	const intake = { id, receivedAt, platform: "northwind", method: "GET", query, txnid, cid, outcome: "accepted" as const, answer: "{}" };
	const sums = { payoutMicros: 12_250_000, salesMicros: 99_990_000, currency: null };
	const postback = { txnid, cid, eventAt: click.at, ...sums, status, s2: null, s3: null, surl: null };
	return { format: 1, kind: "postback", intake, postback };
}

function batchOf(queue: string, bodies: readonly unknown[]): MessageBatch {
	const messages = bodies.map((body, at) => ({
		id: String(at),
		timestamp: new Date(),
		attempts: 1,
		body,
		ack: () => {},
		retry: () => {
			throw new Error(`a message of ${queue} is to come again`);
		},
	}));
	return { queue, messages, ackAll: () => {}, retryAll: () => {} } as unknown as MessageBatch;
}

const owed: unknown[] = [];
const callbackQueue = {
	sendBatch: async (messages: Iterable<MessageSendRequest>) => {
		for (const { body } of messages) owed.push(body);
	},
} as unknown as Queue;

export default {
	async fetch(request, env) {
		if (env.DB === undefined) throw new Error("the binding DB is needed");
		const url = new URL(request.url);
		const [first = 0, count = 0, size = 1, campaigns = 1] = ["first", "count", "size", "campaigns"].map((name) =>
			Number(url.searchParams.get(name)),
		);
		const { db: binding, counts } = countRows(env.DB);
		const db = openDatabase(binding);
		const now = () => Date.now();
		const keys = new KeyOwners({ db, now });
		const isKnown = url.searchParams.has("known");
		const numbers = (start: number) => Array.from({ length: Math.min(size, first + count - start) }, (_, at) => start + at);
		for (let start = first; start < first + count; start += size) {
			const clicks = numbers(start).map((number) => clickAt(number, campaigns, isKnown));
			if (url.pathname === "/clicks") {
				await consumeClicks(
					{ db, kv: env.BOOK, now, facts },
					clicks.map((body, at) => ({ id: String(at), body })),
				);
			}
			if (url.pathname === "/conversions") {
				for (const status of ["pending", "approved"]) {
					const bodies = clicks.map((click) => postbackOf(click, status));
					await consumePostbacks({ db, keys, postbacks: undefined, callbacks: callbackQueue, now }, batchOf("postbacks", bodies));
				}
			}
		}
		const callbacks = owed.length;
		if (url.pathname === "/callbacks") {
			const answer = async () => new Response("OK");
			const box = new SecretBox(["no callback is signed"]);
			const deps = { db, queue: callbackQueue, now, box, fetch: answer, allowInsecure: true, chance: () => 0.5 };
			await consumeCallbacks(deps, batchOf("callbacks", owed.splice(0)));
		}
		if (url.pathname === "/removal") {
			await removeOld({ db, now: () => now() + 400 * DAY_MS, clickDays: 30, archive: undefined });
		}
		const messageBytes = new TextEncoder().encode(JSON.stringify(clickAt(first, campaigns, true))).byteLength;
		return Response.json({ ...counts, bytes: await readSize(openDatabase(env.DB)), callbacks, messageBytes });
	},
} satisfies ExportedHandler<Env>;
