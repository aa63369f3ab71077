/** The problem of a D1 database that fills, or is all but full. */
type Full = { count: number; text: string; command: string };

/** @param percent null where it is not so full, or of the other kind */
export function fullDatabase(percent: number | null): Full {
	return {
		count: percent === null ? 0 : 1,
		text: `the network's database is over ${percent} % full: when it is full, nothing more is written; shorten CLICK_RETENTION_DAYS, or move to PostgreSQL`,
		command: "database move",
	};
}

/** @param percent null where it is not so full, or of the other kind */
export function fullProducts(percent: number | null): Full {
	return {
		count: percent === null ? 0 : 1,
		text: `the products' database is over ${percent} % full: when it is full, no feed is taken over; remove products that are sold no more by --replace, or send smaller feeds`,
		command: "products",
	};
}

export function atLeast(least: number, percent: number | null): number | null {
	return percent !== null && percent >= least ? percent : null;
}

export function below(most: number, percent: number | null): number | null {
	return percent !== null && percent < most ? percent : null;
}
