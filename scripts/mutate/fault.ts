/** A fault of the mutation list: a change of `src/` that the tests must notice. Pure. */

export type Fault = {
	/** Says what is wrong then, in kebab case. */
	name: string;
	/** The file that it is put into. */
	file: string;
	/** Stands in the file exactly once, so that the fault is always the same one. */
	find: string;
	replace: string;
	/** Test files that should notice, the likeliest first. */
	tests: readonly string[];
	/** Why no test notices: the fault is known to survive. Also told in docs/testing.md. */
	survives?: string;
};

/** Why a fault cannot be put into its file as it is now; null where it can. */
export function findStaleness(source: string, { find, replace }: Fault): string | null {
	if (find === replace) return "changes nothing";
	const count = source.split(find).length - 1;
	return count === 1 ? null : `its text stands ${count === 0 ? "nowhere" : `${count} times`} in the file`;
}

/** The file with the fault in it. @throws Error where {@link findStaleness} has something to say */
export function applyFault(source: string, fault: Fault): string {
	const why = findStaleness(source, fault);
	if (why !== null) throw new Error(`${fault.name}: ${why}`);
	return source.replace(fault.find, () => fault.replace);
}
