/** A rule of the interface as it is checked on a running endpoint: what is sent, and what the answer must be. */
import type { SupplyChain } from "./supply-chain.ts";

export type Answer = { status: number; headers: Headers; text: string; milliseconds: number };

/** What is asked about: a brand that bids, and who asks. */
export type Subject = {
	/** `id` of a bid request: each has another, but for rules about one that comes twice. */
	auctionId: string;
	identity: string;
	publisherId: string | null;
	domain: string;
	keyword: string | null;
	/** A page of the brand that it bids on. */
	deeplink: string | null;
	/** Sent with each bid request; null where the publisher asks for none. */
	supplyChain: SupplyChain | null;
};

export type Sent = { method: "GET" | "POST"; path: string; body?: string | Uint8Array<ArrayBuffer>; headers?: Record<string, string> };

export type Rule = {
	name: string;
	/** What of the subject it takes, beside a brand that bids: without it the rule is not checked. */
	needs?: readonly ("publisherId" | "keyword" | "deeplink" | "supplyChain")[];
	/** Sent before, where the rule is about two answers. */
	first?: (subject: Subject) => Sent;
	/** What that answer lacks of what the next request is made of, in words: where it does, nothing more is sent. */
	lacks?: (first: Answer) => string[];
	/** Both are of one auction, which the rule is about: whoever remembers auctions by their ids is caught by no other. */
	isRepeated?: true;
	/** @param first the answer to what was sent before */
	send: (subject: Subject, first: Answer | null) => Sent;
	/** What is wrong with the answer, in words; nothing where it is right. */
	check: (answer: Answer, subject: Subject, first: Answer | null) => string[];
};

/** `faults` also tells why a rule was not checked. */
export type Verdict = { rule: string; outcome: "pass" | "fail" | "not checked"; sent: string; faults: string[] };

type Fields = Record<string, unknown>;

/** The answer's JSON object; an empty one where it is not one. */
export function bodyOf({ text }: Answer): Fields {
	try {
		const value: unknown = JSON.parse(text);
		return isObject(value) ? value : {};
	} catch (error) {
		if (error instanceof SyntaxError) return {};
		throw error;
	}
}

export function isObject(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An address, or null: what URL.parse() does, which Node 20.11 does not have yet. The package runs there. */
export function parseUrl(text: string): URL | null {
	return URL.canParse(text) ? new URL(text) : null;
}

/** A fault where a value is not the expected one. */
export function expectEqual(what: string, found: unknown, expected: unknown): string[] {
	const [left, right] = [shown(found), shown(expected)];
	return left === right ? [] : [`${what} is ${left}, expected ${right}`];
}

/** As JSON has it. */
export function shown(value: unknown): string {
	return JSON.stringify(value) ?? "absent";
}

export function expectThat(holds: boolean, otherwise: string): string[] {
	return holds ? [] : [otherwise];
}

export function isJson(answer: Answer): string[] {
	return expectThat(/^application\/json *(?:;|$)/i.test(answer.headers.get("content-type") ?? ""), "Content-Type is not application/json");
}
