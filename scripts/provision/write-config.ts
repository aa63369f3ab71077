/** Edits wrangler.toml line by line, so that comments and order stay as they are. Pure. */
import { Failure } from "../local/failure.ts";

export type Provisioned = {
	/** Ids by database name. */
	databases: ReadonlyMap<string, string>;
	/** Id of the KV namespace that BOOK is bound to. */
	book: string;
	/** Variables to set in every `vars` section that has them. */
	variables: Readonly<Record<string, string>>;
};

const TABLE = /^\s*\[\[?([^\]]+)\]\]?/;
const ENTRY = /^(\s*)([A-Za-z_]+)(\s*=\s*)"([^"]*)"(.*)$/;

/**
 * The file with the ids and variables in their places.
 * @throws Failure where the file binds a database that was not provisioned
 */
export function writeConfig(toml: string, provisioned: Provisioned): string {
	let table = "";
	let owner = "";
	return toml
		.split("\n")
		.map((line) => {
			const opened = TABLE.exec(line)?.[1];
			if (opened !== undefined) {
				table = opened.replace(/^env\.[^.]+\./, "");
				owner = "";
				return line;
			}
			const [, indent, key = "", equals, value = "", rest] = ENTRY.exec(line) ?? [];
			if (key === "database_name" || (table === "kv_namespaces" && key === "binding")) owner = value;
			const wanted = wantedValue(provisioned, { table, owner, key });
			return wanted === undefined || wanted === value ? line : `${indent}${key}${equals}"${wanted}"${rest}`;
		})
		.join("\n");
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
	const values = (key: string) => [...toml.matchAll(new RegExp(`^\\s*${key}\\s*=\\s*"([^"]+)"`, "gm"))].map(([, value = ""]) => value);
	return {
		databases: [...new Set(values("database_name"))],
		migrated: MIGRATED.filter((binding) => values("binding").includes(binding)),
		queues: [...new Set([...values("queue"), ...values("dead_letter_queue")])],
		workers: { all: workerName(toml, ""), edge: workerName(toml, "env.edge"), origin: workerName(toml, "env.origin") },
	};
}

/** The name in a table; the first lines of the file are the table without a name. */
function workerName(toml: string, wanted: string): string {
	let table = "";
	for (const line of toml.split("\n")) {
		table = TABLE.exec(line)?.[1] ?? table;
		const [, , key, , value] = ENTRY.exec(line) ?? [];
		if (table === wanted && key === "name" && value !== undefined) return value;
	}
	throw new Failure(`wrangler.toml names no Worker in ${wanted === "" ? "its first lines" : `[${wanted}]`}.`);
}
