import type { Readable, Writable } from "node:stream";
import { parseJson } from "../../src/lib/json.ts";
import { canonicalKeyword } from "../../src/lib/keyword.ts";
import { SHARE_SCALE } from "../../src/lib/money.ts";
import { DAY_MS } from "../../src/lib/time.ts";
import { Learner } from "./learner.ts";
import { linesOf } from "./lines-of.ts";
import { type ClickLine, type ConversionLine, type Line, type NetworkLine, readLine } from "./messages.ts";

const USD = 1_000_000;

/**
 * `--serve`: the learner behind lines of JSON. A line that cannot be read is told to `errors` and changes nothing; where it asks for
 * prices, it is answered with what is wrong with it beside the prices of now, since whoever asks waits for a line.
 */
export async function serve(input: Readable, output: Writable, errors: Writable): Promise<void> {
	const learner = new Learner();
	let number = 0;
	for await (const line of linesOf(input)) {
		number++;
		// A byte order mark is no JSON, but editors put it there.
		const text = number === 1 ? line.replace(/^\ufeff/, "") : line;
		if (text.trim() === "") continue;
		const tell = (fault: string) => errors.write(`line ${number}: ${fault}\n`);
		try {
			const answer = answerLine(learner, readLine(text), tell);
			if (answer !== null) output.write(`${answer}\n`);
		} catch (error) {
			const fault = error instanceof Error ? error.message : String(error);
			tell(fault);
			const cells = cellsAskedFor(text);
			if (cells !== null) output.write(`${JSON.stringify({ ...answerPrices(learner, cells, tell), error: fault })}\n`);
		}
	}
}

/** The cells of a line that cannot be read and asks for prices, as far as they can be; null where it does not ask. */
function cellsAskedFor(text: string): readonly unknown[] | null {
	const line = parseJson(text);
	if (line === undefined) return /"type"\s*:\s*"prices"/.test(text) ? [] : null;
	if (typeof line !== "object" || line === null || !("type" in line) || line.type !== "prices") return null;
	return "cells" in line && Array.isArray(line.cells) ? line.cells : [];
}

/**
 * Does what a line says, at its time; answers one that asks.
 * @param tell is told of entries that are left out, of numbers that are none, of cells that have no price, and of lines far ahead of time
 * @throws Error where the line names what does not exist
 */
export function answerLine(learner: Learner, line: Line, tell: (fault: string) => void = () => {}): string | null {
	if (line.type === "network") {
		setNetwork(learner, line, tell);
		return null;
	}
	const days = Math.floor((line.at - (learner.now ?? line.at)) / DAY_MS);
	// What a conversion says of the time before any click is its platform's.
	const hasCome = (line.type === "conversion" && !learner.hasClicks) || learner.reach(line.at, line.type === "prices");
	if (line.type === "prices") {
		if (!hasCome) tell(`prices: at lies ${days} days ahead: priced as it is now`);
		return JSON.stringify(answerPrices(learner, line.cells, tell));
	}
	if (hasCome) writeLine(learner, line);
	else {
		tell(`${line.type}: at lies ${days} days ahead: kept until then`);
		learner.hold(line.at, () => writeHeld(learner, line, tell));
	}
	return null;
}

function writeHeld(learner: Learner, line: ClickLine | ConversionLine, tell: (fault: string) => void): void {
	try {
		writeLine(learner, line);
	} catch (error) {
		tell(error instanceof Error ? error.message : String(error));
	}
}

/** Writes what happened, whatever the time is now. @throws Error where the line names what does not exist */
export function writeLine(learner: Learner, line: ClickLine | ConversionLine): void {
	if (line.type === "click") {
		const fault = learner.addClick(line.id, { ...line, bidMicros: line.bid });
		if (fault !== null) throw new Error(fault);
		return;
	}
	const { txnid, platform, click, at, status, payout } = line;
	learner.ledger.addWord(JSON.stringify([platform, txnid]), click, { at, status, payoutMicros: payout });
}

function setNetwork(learner: Learner, { platforms, publishers, campaigns }: NetworkLine, tell: (fault: string) => void): void {
	for (const { faults } of [platforms, publishers, campaigns]) for (const fault of faults) tell(fault);
	const read = (path: string, micros: number | null | undefined) => {
		if (micros === undefined) tell(`campaigns.${path} is no amount of USD that can be bid: taken as none`);
		return micros ?? null;
	};
	learner.setNetwork(
		publishers.entries.map(({ id, revenue_share, pricing_model }) => ({
			id,
			sharePpm: Math.round(revenue_share * SHARE_SCALE),
			paidByClick: pricing_model.toUpperCase() === "CPC",
		})),
		campaigns.entries.map(({ id, platform, epc, default_keyword_epc, keyword_epc }) => ({
			id,
			platform,
			epcMicros: read(`${id}.epc`, epc),
			defaultKeywordEpcMicros: read(`${id}.default_keyword_epc`, default_keyword_epc),
			keywordEpcMicros: readKeywords(
				keyword_epc,
				(keyword, given) => read(`${id}.keyword_epc.${keyword}`, given),
				(keyword) => tell(`campaigns.${id}.keyword_epc.${keyword} is blank or stands twice: left out`),
			),
		})),
	);
}

/** A campaign's keywords as its network file would have them: however one is written, it is the same one. */
function readKeywords<Given>(
	given: Readonly<Record<string, Given>>,
	read: (keyword: string, given: Given) => number | null,
	leaveOut: (keyword: string) => void,
): Map<string, number> {
	const keywords = new Map<string, number>();
	for (const [written, amount] of Object.entries(given)) {
		const keyword = canonicalKeyword(written);
		const micros = read(written, amount);
		if (keyword === null || keywords.has(keyword)) leaveOut(written);
		else if (micros !== null) keywords.set(keyword, micros);
	}
	return keywords;
}

/** A cell that names what does not exist has no price: 0, as an auction has it. */
function answerPrices(learner: Learner, cells: readonly unknown[], tell: (fault: string) => void): { epc: number[]; bid: number[] } {
	const epc: number[] = [];
	const bid: number[] = [];
	for (const [at, cell] of cells.entries()) {
		const [campaign, publisher, source, keyword, link] = Array.isArray(cell) ? (cell as unknown[]) : [];
		const [campaignId, publisherId] = [nameOf(campaign), nameOf(publisher)];
		const word = nameOf(keyword);
		const price =
			campaignId === undefined || publisherId === undefined
				? null
				: learner.price({
						campaign: campaignId,
						publisher: publisherId,
						source: nameOf(source) ?? "",
						keyword: word === undefined ? null : canonicalKeyword(word),
						link: link === "deeplink" ? "deeplink" : "homepage",
					});
		if (price === null) {
			tell(`cells.${at}: no campaign ${JSON.stringify(campaignId)} with a publisher ${JSON.stringify(publisherId)}: priced at 0`);
		}
		epc.push((price?.epcMicros ?? 0) / USD);
		bid.push((price?.bidMicros ?? 0) / USD);
	}
	return { epc, bid };
}

/** Undefined for what is no name: of objects that are nested deep not even JSON can be made. */
function nameOf(given: unknown): string | undefined {
	return typeof given === "object" || given === undefined ? undefined : String(given);
}
