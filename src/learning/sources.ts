import { OTHER_SOURCES } from "./cell.ts";

/** Sources of a publisher that are followed singly: a publisher can make up as many as it likes. */
export const MAX_SOURCES = 200;
/** Days without a click after which a source makes room, where a publisher has as many as may be. */
export const IDLE_DAYS = 7;

/** The sources of a publisher that are followed singly, and the day of the last click of each. */
export type KnownSources = Map<string, number>;

/** The class of a source as prices are looked up by it: its own, unless the publisher's places are taken by others. */
export function sourceClass(known: ReadonlyMap<string, number>, source: string): string {
	return known.has(source) || known.size < MAX_SOURCES ? source : OTHER_SOURCES;
}

/** The class of a clicked source, which takes a place where there is one. */
export function admitSource(known: KnownSources, source: string, day: number): string {
	const placed = sourceClass(known, source);
	if (placed === source) known.set(source, Math.max(day, known.get(source) ?? day));
	return placed;
}

/** Which sources of a publisher whose places are all taken make room: their rows join the others'. */
export function idleSources(known: ReadonlyMap<string, number>, today: number): string[] {
	if (known.size < MAX_SOURCES) return [];
	return [...known].filter(([, day]) => today - day > IDLE_DAYS).map(([source]) => source);
}
