/** Privacy signals of a request, wherever it has them: read tolerantly, and where they cannot be read for the stricter meaning. */
import { keepShape } from "../lib/kept-shapes.ts";

export type PrivacySignals = {
	/** The user is a child by the law (COPPA). */
	coppa: boolean;
	/** The device limits ad tracking (`lmt`, `dnt`), or the browser refuses the sale of data (Global Privacy Control). */
	limited: boolean;
	/** Whether the GDPR applies; null where nobody says. */
	gdpr: boolean | null;
	/** TC strings. */
	consents: readonly string[];
	/** US Privacy strings. */
	usPrivacy: readonly string[];
	/** GPP strings. */
	gpp: readonly string[];
	/** Sections of them that apply; null where nobody says. */
	gppSections: readonly number[] | null;
	/** In the place of a signal stands something that is none. */
	unreadable: boolean;
};

/** What stands in the places of each signal, as it came. */
export type RawSignals = {
	coppa: readonly unknown[];
	limited: readonly unknown[];
	gdpr: readonly unknown[];
	consents: readonly unknown[];
	usPrivacy: readonly unknown[];
	gpp: readonly unknown[];
	gppSections: readonly unknown[];
};

/** Different strings of a kind that are read: the two places of OpenRTB, and as many again. */
const MAX_STRINGS = 4;
const MAX_SECTIONS = 64;

/** The signals of a request; null where there are none. Where places contradict each other the stricter counts. */
export function readSignals(raw: RawSignals): PrivacySignals | null {
	const reading = new Reading();
	const signals: PrivacySignals = {
		coppa: reading.flag(raw.coppa) === true,
		limited: reading.flag(raw.limited) === true,
		gdpr: reading.flag(raw.gdpr),
		consents: reading.texts(raw.consents),
		usPrivacy: reading.texts(raw.usPrivacy),
		gpp: reading.texts(raw.gpp),
		gppSections: reading.sections(raw.gppSections),
		unreadable: reading.unreadable,
	};
	return reading.found ? signals : null;
}

class Reading {
	found = false;
	unreadable = false;

	/** True where any place says so, false where all that speak deny it; null where none does. */
	flag(values: readonly unknown[]): boolean | null {
		let flag: boolean | null = null;
		for (const value of values) {
			if (!this.#isPresent(value)) continue;
			const word = typeof value === "string" ? value.trim().toLowerCase() : value;
			if (word === 1 || word === true || word === "1" || word === "true") flag = true;
			else if (word === 0 || word === false || word === "0" || word === "false") flag ??= false;
			else this.unreadable = true;
		}
		return flag;
	}

	texts(values: readonly unknown[]): string[] {
		const texts: string[] = [];
		for (const value of values) {
			if (!this.#isPresent(value)) continue;
			const text = typeof value === "string" ? value.trim() : null;
			if (text === null) this.unreadable = true;
			else if (!texts.includes(text)) texts.push(text);
		}
		if (texts.length <= MAX_STRINGS) return texts;
		this.unreadable = true;
		return [];
	}

	/** Numbers, or a text of them with commas or underscores between; 0 and -1 say that none applies. */
	sections(values: readonly unknown[]): number[] | null {
		let sections: number[] | null = null;
		for (const value of values) {
			if (!this.#isPresent(value)) continue;
			const list: unknown[] = typeof value === "string" ? value.split(/[,_]/, MAX_SECTIONS + 1) : Array.isArray(value) ? value : [value];
			if (list.length === 0) continue;
			sections ??= [];
			if (list.length > MAX_SECTIONS) this.unreadable = true;
			else for (const item of list) this.#addSection(sections, item);
		}
		return sections;
	}

	#addSection(sections: number[], item: unknown): void {
		const id = typeof item === "string" && /^\s*-?\d{1,5}\s*$/.test(item) ? Number(item) : item;
		if (typeof id !== "number" || !Number.isInteger(id) || id < -1 || id > 0xffff) this.unreadable = true;
		else if (id > 0 && !sections.includes(id)) sections.push(id);
	}

	/** Absent, null and blank say nothing. */
	#isPresent(value: unknown): boolean {
		const isPresent = value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "");
		this.found ||= isPresent;
		return isPresent;
	}
}

keepShape(new Reading());
