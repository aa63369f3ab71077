import type { Figure } from "./figure.ts";

/** What a part is given. */
export type Bench = {
	/** A folder of this run, removed at its end. */
	folder: string;
	/** Clicks that are stored before anything is measured, where that matters. */
	rows: number;
	/** Campaigns of the large catalogue. */
	campaigns: number;
	/** Shows progress. */
	say: (text: string) => void;
	/** What several parts need and is made once a run, by name. */
	shared: <T>(name: string, make: () => Promise<T>) => Promise<T>;
};

/** One part of the benchmark: a file in `parts/`, listed in `registry.ts`. */
export type Part = {
	name: string;
	/** What it measures, in one line. */
	about: string;
	run: (bench: Bench) => Promise<Figure[]>;
};
