/** The imports of a file, of every kind, as a parser reads them. */
import { type Expression, parseSync, Visitor } from "oxc-parser";

export type Import = {
	/** Counted from 1. */
	line: number;
	/** How it is written, such as `export … from`. */
	kind: string;
	/** What is imported; null where it is computed when the program runs. */
	specifier: string | null;
};

/** What JSX is compiled to imports: `jsxImportSource` of tsconfig.base.json. */
const JSX_RUNTIME = "hono/jsx";

/** @throws Error where the text cannot be parsed: nothing is known of its imports then */
export function readImports(file: string, text: string): Import[] {
	const { program, comments, errors } = parseSync(file, text);
	const [error] = errors;
	if (error !== undefined) throw new Error(`${file}: ${error.message}`);
	const found: (Omit<Import, "line"> & { start: number })[] = [];
	const add = (kind: string, { start }: { start: number }, specifier: string | null) => found.push({ kind, specifier, start });
	const addJsx = (node: { start: number }) => {
		if (!found.some(({ kind }) => kind === "JSX")) add("JSX", node, JSX_RUNTIME);
	};

	new Visitor({
		ImportDeclaration(node) {
			const isBare = node.specifiers.length === 0;
			add(node.importKind === "type" ? "import type" : isBare ? "import for effect" : "import", node, node.source.value);
		},
		ExportNamedDeclaration(node) {
			if (node.source !== null) add(node.exportKind === "type" ? "export type … from" : "export … from", node, node.source.value);
		},
		ExportAllDeclaration(node) {
			add(node.exportKind === "type" ? "export type * from" : "export * from", node, node.source.value);
		},
		ImportExpression(node) {
			add("import()", node, literalOf(node.source));
		},
		TSImportType(node) {
			add("import() as a type", node, node.source.value);
		},
		TSExternalModuleReference(node) {
			add("import = require()", node, node.expression.value);
		},
		TSModuleDeclaration(node) {
			if (node.id.type === "Literal" && node.id.value.startsWith(".")) add("declare module", node, node.id.value);
		},
		CallExpression(node) {
			const [argument] = node.arguments;
			if (node.callee.type !== "Identifier" || node.callee.name !== "require" || argument === undefined) return;
			add("require()", node, argument.type === "SpreadElement" ? null : literalOf(argument));
		},
		JSXElement: addJsx,
		JSXFragment: addJsx,
	}).visit(program);
	for (const { start, value } of comments) {
		const path = /^\/\s*<reference\s+path\s*=\s*["']([^"']+)["']/.exec(value)?.[1];
		if (path !== undefined) add("reference", { start }, path.startsWith(".") ? path : `./${path}`);
		const types = /^\/\s*<reference\s+types\s*=\s*["']([^"']+)["']/.exec(value)?.[1];
		if (types !== undefined) add("reference", { start }, types);
		const runtime = /@jsxImportSource\s+(\S+)/.exec(value)?.[1];
		if (runtime !== undefined) add("JSX of", { start }, runtime);
	}
	return found
		.sort((a, b) => a.start - b.start)
		.map(({ kind, specifier, start }) => ({ line: text.slice(0, start).split("\n").length, kind, specifier }));
}

function literalOf(node: Expression): string | null {
	if (node.type === "Literal" && typeof node.value === "string") return node.value;
	if (node.type === "TemplateLiteral" && node.expressions.length === 0) return node.quasis[0]?.value.cooked ?? null;
	return null;
}
