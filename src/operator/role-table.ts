/** Which role an operation takes, and which parameters: read from its description, the only place where that is said. */
import type { OperatorRole } from "../lib/access-enums.ts";

/** What is described of an operation, as far as it matters here. */
export type DeclaredOperation = {
	method: string;
	/** Path template: `/operator/brands/{domain}`. */
	path: string;
	/** Absent where it takes no operator key. */
	role?: OperatorRole | undefined;
	parameters?: readonly { in: string; name: string }[] | undefined;
};

type KnownOperation = {
	role: OperatorRole;
	/** Names of what its query may hold. */
	query: readonly string[];
};

type OperationTable = {
	/** The operation of a request; null where none is described that it could be. HEAD is answered as GET is. */
	operationOf: (method: string, path: string) => KnownOperation | null;
	/** The methods that a path takes, with commas between them; empty where it is nowhere. */
	methodsOf: (path: string) => string;
};

export function operationTable(operations: readonly DeclaredOperation[]): OperationTable {
	const known = operations
		.flatMap(({ method, path, role, parameters = [] }) => {
			const query = parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
			return role === undefined ? [] : [{ method: method.toUpperCase(), pattern: patternOf(path), path, role, query }];
		})
		// A path without parameters comes before one that they would let through.
		.sort((one, other) => countParameters(one.path) - countParameters(other.path));
	return {
		operationOf(method, path) {
			const asked = method === "HEAD" ? "GET" : method;
			return known.find((operation) => operation.method === asked && operation.pattern.test(path)) ?? null;
		},
		methodsOf(path) {
			const methods = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
			return [...new Set(methods.sort())].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
		},
	};
}

function patternOf(path: string): RegExp {
	const segments = path.split("/").map((segment) => (/^\{\w+\}$/.test(segment) ? "[^/]+" : RegExp.escape(segment)));
	return new RegExp(`^${segments.join("/")}$`);
}

function countParameters(path: string): number {
	return path.split("{").length - 1;
}
