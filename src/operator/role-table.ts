/** Which role an operation takes: read from its description, the only place where that is said. */
import type { OperatorRole } from "../lib/enums.ts";

/** What is described of an operation, as far as it matters here. */
export type DeclaredOperation = {
	method: string;
	/** Path template: `/operator/brands/{domain}`. */
	path: string;
	/** Absent where it takes no operator key. */
	role?: OperatorRole | undefined;
};

/** Finds the role of a request; null where no operation is described that it could be. HEAD is answered as GET is. */
export function roleTable(operations: readonly DeclaredOperation[]): (method: string, path: string) => OperatorRole | null {
	const known = operations
		.flatMap(({ method, path, role }) =>
			role === undefined ? [] : [{ method: method.toUpperCase(), pattern: patternOf(path), path, role }],
		)
		// A path without parameters comes before one that they would let through.
		.sort((one, other) => countParameters(one.path) - countParameters(other.path));
	return (method, path) => {
		const asked = method === "HEAD" ? "GET" : method;
		return known.find((operation) => operation.method === asked && operation.pattern.test(path))?.role ?? null;
	};
}

function patternOf(path: string): RegExp {
	const segments = path.split("/").map((segment) => (/^\{\w+\}$/.test(segment) ? "[^/]+" : RegExp.escape(segment)));
	return new RegExp(`^${segments.join("/")}$`);
}

function countParameters(path: string): number {
	return path.split("{").length - 1;
}
