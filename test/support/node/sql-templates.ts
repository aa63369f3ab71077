/** The statements of a source file, as far as the source tells them: what stands between the places of values and of further parts. */
import { parseSync, Visitor } from "oxc-parser";

export type Template = { line: number; parts: readonly string[] };

export type Statements = {
	/** Each sql`…` of the file, whole statements and parts of them. */
	templates: Template[];
	/** What the query builder makes: the verb and the table as the schema calls it. */
	built: { line: number; verb: string; table: string }[];
};

/** Names that the query builder's verbs have, as SQL. */
const VERBS: Readonly<Record<string, string>> = { from: "select", insert: "insert into", update: "update", delete: "delete from" };

/** @param tables names of the schema's tables, as the code calls them */
export function readStatements(path: string, source: string, tables: ReadonlySet<string>): Statements {
	const { program, errors } = parseSync(path, source);
	if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
	const lineOf = (at: number) => source.slice(0, at).split("\n").length;
	const found: Statements = { templates: [], built: [] };
	new Visitor({
		TaggedTemplateExpression({ tag, quasi, start }) {
			if (tag.type !== "Identifier" || tag.name !== "sql") return;
			found.templates.push({ line: lineOf(start), parts: quasi.quasis.map(({ value }) => foldSpace(value.cooked ?? value.raw)) });
		},
		CallExpression({ callee, arguments: [first], start }) {
			if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier" || first?.type !== "Identifier") return;
			const verb = VERBS[callee.property.name];
			if (verb !== undefined && tables.has(first.name)) found.built.push({ line: lineOf(start), verb, table: first.name });
		},
	}).visit(program);
	return found;
}

/** Whether a statement's text holds the template's parts, in their order. */
export function holds(text: string, { parts }: Template): boolean {
	let at = 0;
	for (const part of parts) {
		const found = text.indexOf(part.trim(), at);
		if (found === -1) return false;
		at = found + part.trim().length;
	}
	return true;
}

export function foldSpace(text: string): string {
	return text.replaceAll(/\s+/g, " ");
}
