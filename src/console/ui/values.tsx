/** One value each, written the same on every page. */
import type { JSX } from "hono/jsx/jsx-runtime";
import { type Tone, toneOf } from "./tones.ts";

/** In the place of a value that is not there. */
export function None(): JSX.Element {
	return (
		<span class="none">
			<span aria-hidden="true">–</span>
			<span class="unseen">none</span>
		</span>
	);
}

const AMOUNT = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * An amount of USD, all its digits shown; those past the cents are set back.
 * @param usd a decimal as the API answers it, such as `1234.5000`; its `value` in the page is the same text
 */
export function Money({ usd }: { usd: string | null | undefined }): JSX.Element {
	if (usd === null || usd === undefined) return <None />;
	const [, sign, whole = "", fraction = ""] = AMOUNT.exec(usd) ?? [];
	if (sign === undefined) throw new Error(`${JSON.stringify(usd)} is no amount of money`);
	const finer = fraction.slice(2);
	return (
		<data class="money" value={usd}>
			{sign === "" ? "" : "−"}${groupDigits(whole)}.{fraction.slice(0, 2).padEnd(2, "0")}
			{finer === "" ? null : <span class="finer">{finer}</span>}
		</data>
	);
}

/** A whole number, its thousands apart. */
export function Count({ of }: { of: number | null | undefined }): JSX.Element {
	if (of === null || of === undefined) return <None />;
	return <data value={String(of)}>{formatCount(of)}</data>;
}

/** A whole number as people read it: `-12345` is `−12,345`. */
function formatCount(count: number): string {
	return `${count < 0 ? "−" : ""}${groupDigits(String(Math.abs(count)))}`;
}

function groupDigits(digits: string): string {
	return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A part of a whole in percent with one decimal. @param of a part such as 0.25; null where there is no whole */
export function Percent({ of }: { of: number | null | undefined }): JSX.Element {
	if (of === null || of === undefined) return <None />;
	return <data value={String(of)}>{(of * 100).toFixed(1).replace("-", "−")}%</data>;
}

/** A share that was agreed on, in percent with all its digits. @param of a part such as 0.8525 */
export function Share({ of }: { of: number }): JSX.Element {
	return <data value={String(of)}>{Number((of * 100).toFixed(SHARE_DIGITS))}%</data>;
}

/** Shares are kept in millionths. */
const SHARE_DIGITS = 4;

/**
 * A time in UTC, with the zone, to the second.
 * @param at ISO 8601 as the API answers it, or milliseconds since the epoch
 * @param date the day alone
 */
export function Time({ at, date = false }: { at: string | number | null | undefined; date?: boolean }): JSX.Element {
	if (at === null || at === undefined) return <None />;
	const iso = new Date(at).toISOString();
	return (
		<time datetime={date ? iso.slice(0, 10) : iso}>
			{iso.slice(0, 10)}
			{date ? "" : ` ${iso.slice(11, 19)}`} <span class="zone">UTC</span>
		</time>
	);
}

/** A state in one word: as the API has it, but for lines under it. Its shape and its colour say no more than the word. */
export function State({ word, tone = toneOf(word) }: { word: string; tone?: Tone }): JSX.Element {
	return <span class={`state ${tone}`}>{inWords(word)}</span>;
}

/** A text of a machine: an id, a key, an address. */
export function Code({ children }: { children: string | null | undefined }): JSX.Element {
	return children === null || children === undefined || children === "" ? <None /> : <code>{children}</code>;
}

/** A code of the API as words, such as a reason or a kind: "no rate". Nothing of none. */
export function inWords(code: string): string;
export function inWords(code: string | null | undefined): string | undefined;
export function inWords(code: string | null | undefined): string | undefined {
	return code?.replaceAll("_", " ");
}
