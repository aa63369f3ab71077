/** How SQL is written in src (decision 0029): what of it can be told from the source alone. */
import { type CallExpression, parseSync, type TaggedTemplateExpression, Visitor } from "oxc-parser";

/** Files that may ask the client itself: the one that wraps it, and the statements that are written out once. */
const MAY_PREPARE = new Set([
	"src/db/client.ts",
	// Hands on what others prepare.
	"src/db/wrap-d1.ts",
	"src/clicks/consumer/kept-facts.ts",
	"src/clicks/consumer/read-click-state.ts",
	"src/clicks/consumer/write-clicks.ts",
	"src/clicks/consumer/caps.ts",
]);
/** The one file that puts names of the schema into raw SQL. */
const DYNAMIC_NAMES = "src/db/json-rows.ts";

/** Of what the schema exports, a value: it is bound, as any other. */
const CONSTANT = /^[A-Z][A-Z_]*$/;

const BUILDER_STARTS = new Set(["select", "selectDistinct"]);
const BUILDER_STEPS = new Set(
	["from", "where", "set", "values", "innerJoin", "leftJoin", "orderBy", "groupBy", "having", "limit", "returning"].concat([
		"onConflictDoUpdate",
		"onConflictDoNothing",
	]),
);

/** What SQLite alone understands, and the decision lists with its files. */
export const SQLITE_ONLY: Readonly<Record<string, RegExp>> = {
	rowid: /\browid\b/,
	FTS5: /\bMATCH\b|\bbm25\(/,
	"max(a, b)": /\b(?:max|min)\((?:[^()]|\([^()]*\))*,/i,
	"date(…, 'unixepoch')": /'unixepoch'/,
	group_concat: /\bgroup_concat\(/,
};

/** What has an equal that PostgreSQL understands too. */
const NOT_PORTABLE: readonly [what: RegExp, instead: string][] = [
	[/\bjson_extract\(|->>? '\$/, "`->> 'member'` in place of a JSON path"],
	[/\bSELECT value(?:, (?:[^()]|\([^()]*\))*)? FROM json_each\b/, "atom in place of value, which is JSON"],
	[/\bAS [a-z_]+[A-Z]/, 'quotes around a result name with capitals (AS "publisherId")'],
	[/\bIS (?:NOT )?(?!NULL\b|NOT\b|DISTINCT\b)/, "IS [NOT] DISTINCT FROM in place of IS"],
	[/\bINSERT OR\b|\bREPLACE INTO\b/, "ON CONFLICT in place of OR"],
	[/\bCROSS JOIN (?:\w+|\?)(?: (?!ON\b)\w+)? ON\b/, "the condition of a CROSS JOIN in WHERE"],
	[/\bON false\b/i, "a key that no row has in place of ON false, for which SQLite reads the whole table"],
	[/\bjson_(?:group_)?(?:array|object)\(/, "rows in place of JSON that is made"],
	[/\bstrftime\(|\bifnull\(|\biif\(|\bPRAGMA\b|\bGLOB\b/i, "a function of both engines"],
];

const SQL_OUTSIDE = /\b(?:SELECT .+ FROM|INSERT INTO|DELETE FROM|UPDATE \w+ SET) /s;

export type SqlReading = {
	/** What breaks the rule, as sentences with the line. */
	faults: string[];
	/** Keys of {@link SQLITE_ONLY} that the file uses. */
	sqliteOnly: string[];
};

/**
 * Reads the SQL of a source file.
 * @param path from the root, with slashes
 * @param tables the names that may follow FROM, JOIN, INTO and UPDATE
 */
export function readSql(path: string, source: string, tables: ReadonlySet<string>): SqlReading {
	const faults: string[] = [];
	const sqliteOnly = new Set<string>();
	const { program, errors } = parseSync(path, source);
	if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
	const fault = (at: number, what: string) => faults.push(`${path}:${source.slice(0, at).split("\n").length} ${what}`);

	const imported = { schema: new Set<string>(), jsonRows: new Set<string>(), drizzle: new Set<string>() };
	const depth = { template: 0, builder: 0, jsonRows: 0 };
	const names = new Set<number>();
	const tagged = new Set<number>();
	const templates: TaggedTemplateExpression[] = [];

	/** Which of the depths a call adds to. */
	const kindOf = ({ callee }: CallExpression): keyof typeof depth | null => {
		if (callee.type === "Identifier") {
			if (imported.jsonRows.has(callee.name)) return "jsonRows";
			return imported.drizzle.has(callee.name) ? "builder" : null;
		}
		if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return null;
		const { name } = callee.property;
		return BUILDER_STARTS.has(name) || (BUILDER_STEPS.has(name) && callee.object.type === "CallExpression") ? "builder" : null;
	};

	new Visitor({
		ImportDeclaration({ source: from, specifiers }) {
			const locals = specifiers.map(({ local }) => local.name);
			if (/(?:^|\/)schema\//.test(from.value)) for (const name of locals) if (!CONSTANT.test(name)) imported.schema.add(name);
			if (from.value.endsWith("/json-rows.ts")) for (const name of locals) imported.jsonRows.add(name);
			if (from.value === "drizzle-orm") for (const name of locals) if (name !== "sql") imported.drizzle.add(name);
		},
		CallExpression(node) {
			const kind = kindOf(node);
			if (kind !== null) depth[kind]++;
		},
		"CallExpression:exit"(node) {
			const kind = kindOf(node);
			if (kind !== null) depth[kind]--;
		},
		MemberExpression({ object, property, computed, start }) {
			if (!computed) names.add(property.start);
			if (property.type !== "Identifier") return;
			if (object.type === "Identifier" && object.name === "sql" && property.name === "raw" && path !== DYNAMIC_NAMES)
				fault(start, `sql.raw stands in ${DYNAMIC_NAMES} alone`);
			if (property.name === "prepare" && !MAY_PREPARE.has(path)) fault(start, "statements go through src/db/client.ts");
		},
		Property({ key, shorthand, computed }) {
			if (!shorthand && !computed) names.add(key.start);
		},
		TaggedTemplateExpression(node) {
			if (node.tag.type !== "Identifier" || node.tag.name !== "sql") return;
			if (depth.builder > 0 && depth.template === 0) fault(node.start, "raw SQL within the query builder: one or the other");
			tagged.add(node.quasi.start);
			templates.push(node);
			depth.template++;
		},
		"TaggedTemplateExpression:exit"(node) {
			if (templates.includes(node)) depth.template--;
		},
		Identifier({ name, start }) {
			if (depth.template > 0 && depth.jsonRows === 0 && !names.has(start) && imported.schema.has(name))
				fault(start, `${name} of the schema in raw SQL: write its name as it stands in the database`);
		},
		Literal({ value, start }) {
			if (typeof value === "string" && SQL_OUTSIDE.test(value)) fault(start, "SQL outside of a sql`…` template");
		},
		TemplateLiteral({ quasis, start }) {
			if (!tagged.has(start) && SQL_OUTSIDE.test(textOf(quasis))) fault(start, "SQL outside of a sql`…` template");
		},
	}).visit(program);

	const texts = templates.map(({ quasi, start }) => ({ start, text: textOf(quasi.quasis) }));
	const named = new Set(texts.flatMap(({ text }) => namedQueriesOf(text)));
	for (const { start, text } of texts) {
		for (const [what, expression] of Object.entries(SQLITE_ONLY)) if (expression.test(text)) sqliteOnly.add(what);
		for (const [what, instead] of NOT_PORTABLE) if (what.test(text)) fault(start, `PostgreSQL does not understand it: ${instead}`);
		for (const table of tablesOf(text)) if (!tables.has(table) && !named.has(table)) fault(start, `there is no table ${table}`);
	}
	return { faults, sqliteOnly: [...sqliteOnly] };
}

/** The text of a template, each value a question mark. */
function textOf(quasis: readonly { value: { raw: string } }[]): string {
	return quasis.map(({ value }) => value.raw).join("?");
}

/** The names that follow FROM, JOIN, INTO and UPDATE. */
function tablesOf(text: string): string[] {
	const bare = text.replaceAll(/'[^']*'/g, "''");
	return [...bare.matchAll(/(?<!\bDISTINCT )\b(?:FROM|JOIN|INTO|UPDATE) ([a-z_]\w*)/g)].map(([, name = ""]) => name);
}

/** The names that WITH gives. */
function namedQueriesOf(text: string): string[] {
	return [...text.matchAll(/(?:\bWITH (?:RECURSIVE )?|\),\s+)(\w+)(?: \([^)]*\))? AS (?:MATERIALIZED )?\(/g)].map(([, name = ""]) => name);
}
