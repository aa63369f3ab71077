/** Edits wrangler.toml line by line, so that comments and order stay as they are. Pure. */
import type { TomlTable } from "smol-toml";
import { Failure } from "../local/failure.ts";
import { isTable, readSections, type Section, tablesOf } from "../local/wrangler-toml.ts";

export type Provisioned = {
	/** Ids by database name. */
	databases: ReadonlyMap<string, string>;
	/** Id of the KV namespace that BOOK is bound to. */
	book: string;
	/** Variables to set in every `vars` section that has them. */
	variables: Readonly<Record<string, string>>;
};

/** A table's header, and a value in a line of its own: its key and it may stand in quotes of either kind. */
const TABLE = /^\s*\[\[?([^\]]+)\]\]?/;
const ENTRY = /^(\s*)(["']?)([A-Za-z_]+)\2(\s*=\s*)(?:"([^"]*)"|'([^']*)')(.*)$/;

/**
 * The file with the ids and variables in their places.
 * @throws Failure where the file binds a database that was not provisioned, or has a place in a form in which it is not found
 */
export function writeConfig(toml: string, provisioned: Provisioned): string {
	let table = "";
	let owner = "";
	const written = toml
		.split("\n")
		.map((line) => {
			const opened = TABLE.exec(line)?.[1];
			if (opened !== undefined) {
				table = opened.replaceAll(/["'\s]/g, "").replace(/^env\.[^.]+\./, "");
				owner = "";
				return line;
			}
			const [, indent, quote = "", key = "", equals, basic, literal, rest] = ENTRY.exec(line) ?? [];
			const value = basic ?? literal ?? "";
			if (key === "database_name" || (table === "kv_namespaces" && key === "binding")) owner = value;
			const wanted = wantedValue(provisioned, { table, owner, key });
			return wanted === undefined || wanted === value ? line : `${indent}${quote}${key}${quote}${equals}"${wanted}"${rest}`;
		})
		.join("\n");
	demandWritten(written, provisioned);
	return written;
}

function wantedValue({ databases, book, variables }: Provisioned, at: { table: string; owner: string; key: string }): string | undefined {
	if (at.table === "d1_databases" && at.key === "database_id") {
		const id = databases.get(at.owner);
		if (id === undefined)
			throw new Failure(`wrangler.toml binds the database ${at.owner}, which was not provisioned: name it before its id.`);
		return id;
	}
	if (at.table === "kv_namespaces" && at.key === "id" && at.owner === "BOOK") return book;
	return at.table === "vars" ? variables[at.key] : undefined;
}

/** What is edited line by line may be written otherwise, and a Worker would be deployed with what stood there. @throws Failure */
function demandWritten(toml: string, { databases, book, variables }: Provisioned): void {
	const found = new Set<string>();
	for (const { environment, table } of readSections(toml)) {
		const demand = (what: string, value: unknown, wanted: string | undefined) => {
			if (value === wanted) return;
			const place = environment === null ? "its first part" : `[env.${environment}]`;
			throw new Failure(
				`wrangler.toml: ${what} of ${place} could not be set. Write it on a line of its own, as ${JSON.stringify(wanted)}, in a table of its own.`,
			);
		};
		for (const { database_name, database_id } of tablesOf(table, "d1_databases"))
			demand(`database_id of the database ${database_name}`, database_id, databases.get(String(database_name)));
		for (const { binding, id } of tablesOf(table, "kv_namespaces")) if (binding === "BOOK") demand("id of the KV namespace BOOK", id, book);
		const vars = isTable(table.vars) ? table.vars : {};
		for (const [name, wanted] of Object.entries(variables)) {
			if (vars[name] === undefined) continue;
			demand(name, vars[name], wanted);
			found.add(name);
		}
	}
	const missing = Object.keys(variables).filter((name) => !found.has(name));
	if (missing.length > 0) throw new Failure(`wrangler.toml has no ${missing.join(" and no ")} to set: write it into [vars].`);
}

/** D1 databases that are migrated: all that the Worker may bind. */
const MIGRATED = ["DB", "PRODUCTS"];

/** Names of the Workers of both ways to deploy. */
export type Workers = { all: string; edge: string; origin: string };

type Names = {
	databases: string[];
	/** Bindings of those that are to be migrated. */
	migrated: string[];
	queues: string[];
	workers: Workers;
};

/** Names of what the file binds, in order and once each. @throws Failure where a Worker has no name */
export function readNames(toml: string): Names {
	const sections = readSections(toml);
	const values = (key: string, tables: readonly TomlTable[]) =>
		tables.flatMap((table) => (typeof table[key] === "string" && table[key] !== "" ? [table[key]] : []));
	const databases = sections.flatMap(({ table }) => tablesOf(table, "d1_databases"));
	const queues = sections.flatMap(({ table }) => {
		const { queues: bound } = table;
		return isTable(bound) ? [...tablesOf(bound, "producers"), ...tablesOf(bound, "consumers")] : [];
	});
	return {
		databases: [...new Set(values("database_name", databases))],
		migrated: MIGRATED.filter((binding) => values("binding", databases).includes(binding)),
		queues: [...new Set([...values("queue", queues), ...values("dead_letter_queue", queues)])],
		workers: { all: workerName(sections, null), edge: workerName(sections, "edge"), origin: workerName(sections, "origin") },
	};
}

function workerName(sections: readonly Section[], wanted: string | null): string {
	const name = sections.find(({ environment }) => environment === wanted)?.table.name;
	if (typeof name === "string") return name;
	throw new Failure(`wrangler.toml names no Worker in ${wanted === null ? "its first lines" : `[env.${wanted}]`}.`);
}

/** Variables that point at this machine still. */
export function readLocalUrls(toml: string): string[] {
	const variables = readSections(toml).flatMap(({ table }) => (isTable(table.vars) ? Object.entries(table.vars) : []));
	const local = variables.filter(([name, value]) => name.endsWith("_URL") && String(value).startsWith("http://localhost"));
	return [...new Set(local.map(([name]) => name))];
}
