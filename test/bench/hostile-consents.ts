/** Consent strings made to cost much: each as long as is read, of parts that are all looked at. */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BITS_A_CHARACTER = 6;
/** Longest that is read. */
const MAX_LENGTH = 8_192;
const MAX_SEGMENTS = 3;

/** Bits as IAB's strings have them: URL-safe base64 without padding. */
function encode(bits: string): string {
	const padded = bits.padEnd(Math.ceil(bits.length / BITS_A_CHARACTER) * BITS_A_CHARACTER, "0");
	return (padded.match(/.{6}/g) ?? []).map((six) => ALPHABET[Number.parseInt(six, 2)]).join("");
}

const number = (value: number, width: number) => value.toString(2).padStart(width, "0");

/** A TC string of nothing but vendors' ranges. @param mark makes two of them different */
export function consentOfRanges(mark: number): string {
	const head = `${number(2, 6)}${number(mark, 36)}${"0".repeat(36 + 12 + 12 + 6 + 12 + 12 + 6 + 1 + 1 + 12)}${"1".repeat(24)}${"0".repeat(24 + 13)}`;
	const range = `1${number(1, 16)}${number(2, 16)}`;
	const vendors = `${number(0xffff, 16)}1${number(4_095, 12)}`;
	return encode(head + vendors + range.repeat(1_600)).slice(0, MAX_LENGTH);
}

/** A TC string with as many further segments as there may be, each of as many vendors as there is room for. */
export function consentOfSegments(mark: number): string {
	const head = `${number(2, 6)}${number(mark, 36)}${"0".repeat(36 + 12 + 12 + 6 + 12 + 12 + 6 + 1 + 1 + 12)}${"1".repeat(24)}${"0".repeat(24 + 13)}`;
	const core = encode(head + "0".repeat(17 + 17 + 12));
	const vendor = `0${number(1, 16)}`;
	const bits = (Math.floor((MAX_LENGTH - core.length) / MAX_SEGMENTS) - 1) * BITS_A_CHARACTER;
	const before = `${number(1, 3)}${number(0xffff, 16)}1`;
	const vendors = Math.floor((bits - before.length - 12) / vendor.length);
	return core + `.${encode(before + number(vendors, 12) + vendor.repeat(vendors))}`.repeat(MAX_SEGMENTS);
}

/** Fibonacci coding of a whole number from 1. */
function fibonacci(value: number): string {
	const numbers = [1, 2];
	while ((numbers.at(-1) ?? 0) < value) numbers.push((numbers.at(-1) ?? 0) + (numbers.at(-2) ?? 0));
	let left = value;
	const bits = numbers.reverse().map((one) => {
		if (one > left) return "0";
		left -= one;
		return "1";
	});
	return `${bits.reverse().join("").replace(/0+$/, "")}1`;
}

/** Sections that are read, US Privacy and the states': each allows, so that all are looked at. */
const FIRST_SECTION = 6;
const LAST_SECTION = 27;
export const GPP_SECTIONS = Array.from({ length: LAST_SECTION - FIRST_SECTION + 1 }, (_, at) => FIRST_SECTION + at);

/** A GPP string in which every section that is known allows, each with as many segments as there is room for. */
export function gppOfAllSections(mark: number): string {
	const header = encode(
		`${number(3, 6)}${number(1, 6)}${number(1, 12)}1${fibonacci(FIRST_SECTION)}${fibonacci(LAST_SECTION - FIRST_SECTION)}`,
	);
	const room = Math.floor((MAX_LENGTH - header.length) / GPP_SECTIONS.length) - 1;
	const state = `B${"A".repeat(11 + mark)}`;
	const sections = GPP_SECTIONS.map((id) => (id === FIRST_SECTION ? "1YNN" : state + ".A".repeat(Math.floor((room - state.length) / 2))));
	return [header, ...sections].join("~");
}

/** A GPP string whose section of Canada allows, with as many vendors in Fibonacci coding as there is room for. */
export function gppOfCanada(mark: number): string {
	const header = encode(`${number(3, 6)}${number(1, 6)}${number(1, 12)}0${fibonacci(5)}`);
	const before = `${number(1, 6)}${number(mark, 36)}${"0".repeat(36 + 12 + 12 + 6 + 12 + 12 + 6 + 1 + 12)}${"1".repeat(24 + 24)}`;
	const after = "0".repeat(17 + 12);
	// As far apart as ids of 16 bits leave room for so many.
	const distance = 13;
	const vendor = `0${fibonacci(distance)}`;
	const room = (MAX_LENGTH - header.length - 1) * BITS_A_CHARACTER - before.length - 17 - 12 - after.length;
	const vendors = Math.min(4_095, Math.floor(room / vendor.length));
	return `${header}~${encode(`${before}${number(vendors * distance, 16)}1${number(vendors, 12)}${vendor.repeat(vendors)}${after}`)}`;
}

/** A GPP string that names as many sections as are read, none of which is known. */
export function gppOfUnknownSections(): string {
	const header = encode(`${number(3, 6)}${number(1, 6)}${number(64, 12)}${`0${fibonacci(40)}`.repeat(64)}`);
	const room = Math.floor((MAX_LENGTH - header.length) / 64) - 1;
	return [header, ...Array(64).fill("A".repeat(room))].join("~");
}
