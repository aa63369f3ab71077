/** Sections of GPP for the United States: where each has what a user may refuse. Bits of their core segment, two a field. */

export type UsLayout = {
	/** Versions that are laid out so. */
	version: number;
	/** Length of the core, in bits. */
	bits: number;
	/** Where the opt-outs of sale, sharing and targeted advertising begin: 1 says opted out. */
	optOuts: readonly number[];
	/** Where a known child's consents, and that to uses beyond what was told, begin: 1 says no consent. */
	consents: readonly number[];
};

const fields = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + 2 * at);

/** Most states: sale and targeted advertising behind three notices. */
const state = (bits: number, consents: readonly number[], first = 12): UsLayout[] => [
	{ version: 1, bits, optOuts: [first, first + 2], consents },
];

/** By the id of the section; what is not here cannot be read. */
export const US_SECTIONS: ReadonlyMap<number, readonly UsLayout[]> = new Map([
	// The national section, in both of its versions.
	[
		7,
		[
			{ version: 1, bits: 60, optOuts: [18, 20, 22], consents: fields(48, 3) },
			{ version: 2, bits: 70, optOuts: [18, 20, 22], consents: fields(56, 4) },
		],
	],
	// California, Virginia, Colorado, Utah, Connecticut.
	[8, state(46, fields(34, 3))],
	[9, state(40, [32])],
	[10, state(38, [30])],
	[11, state(42, [34], 14)],
	[12, state(44, fields(32, 3))],
	// Florida, Montana, Oregon, Texas, Delaware, Iowa.
	[13, state(46, fields(32, 4))],
	[14, state(46, fields(32, 4))],
	[15, state(52, fields(38, 4))],
	[16, state(42, [32, 34])],
	[17, state(52, fields(34, 6))],
	[18, state(42, [34], 14)],
	// Nebraska, New Hampshire, New Jersey, Tennessee, Minnesota.
	[19, state(42, [32, 34])],
	[20, state(46, fields(32, 4))],
	[21, state(54, fields(36, 6))],
	[22, state(42, [32, 34])],
	[23, state(42, [32, 34])],
	// Maryland, Indiana, Kentucky, Rhode Island.
	[24, state(22, [20], 16)],
	[25, state(24, [20, 22], 16)],
	[26, state(24, [20, 22], 16)],
	[27, state(24, [20, 22], 16)],
]);
