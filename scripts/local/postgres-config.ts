/** wrangler.toml with PostgreSQL bound: a binding that always stood there would always choose PostgreSQL. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { stringify, type TomlValue } from "smol-toml";
import { Failure } from "./failure.ts";
import { POSTGRES_DIR, ROOT } from "./paths.ts";
import { isTable, parseToml, readSections, tablesOf } from "./wrangler-toml.ts";

const CONFIG = join(ROOT, "wrangler.toml");
const BOUND = join(POSTGRES_DIR, "wrangler.toml");
/** Of what Cloudflare has ids for. */
const ID_LENGTH = 32;

/** By this variable wrangler learns where the database of the binding is. */
export const CONNECTION_VARIABLE = "CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_POSTGRES";

/** @throws Failure where wrangler.toml binds PostgreSQL, so that a server would not run on D1 */
export function demandUnboundPostgres(): void {
	if (!bindsItself(readFileSync(CONFIG, "utf8"))) return;
	throw new Failure("wrangler.toml binds POSTGRES, so this network runs on PostgreSQL: use `npm start -- --postgres`.");
}

/** Whether a deployment by this configuration, of one Worker or of two, has its network in PostgreSQL. */
export function bindsPostgres(config: string): boolean {
	return readSections(config).some(({ table }) => tablesOf(table, "hyperdrive").length > 0);
}

/** Whether the all-in-one Worker has it bound: an environment inherits no bindings. */
function bindsItself(config: string): boolean {
	return readSections(config).some(({ environment, table }) => environment === null && tablesOf(table, "hyperdrive").length > 0);
}

/** Writes it again, for the all-in-one Worker. @param database tells the databases of a folder apart @returns its path */
export function writePostgresConfig(database: string): string {
	mkdirSync(POSTGRES_DIR, { recursive: true });
	writeFileSync(BOUND, bindPostgres(readFileSync(CONFIG, "utf8"), ROOT, database));
	return BOUND;
}

/**
 * Paths of a configuration are relative to its own folder: here they name the project's. The campaign book is one of its own: that of
 * another database in the same folder is of another network.
 */
export function bindPostgres(config: string, root: string, database: string): string {
	const namespace = createHash("sha256").update(database).digest("hex").slice(0, ID_LENGTH);
	const table = parseToml(config);
	for (const bound of tablesOf(table, "kv_namespaces")) if (bound.binding === "BOOK") bound.id = namespace;
	const inRoot = (path: TomlValue | undefined, otherwise: string) => resolve(root, typeof path === "string" ? path : otherwise);
	if (table.main !== undefined) table.main = inRoot(table.main, ".");
	const { build } = table;
	if (isTable(build)) {
		build.cwd = inRoot(build.cwd, ".");
		// wrangler puts the configuration's folder before it, even before an absolute one.
		const watched = (path: TomlValue | undefined) => relative(POSTGRES_DIR, inRoot(path, "src"));
		build.watch_dir = Array.isArray(build.watch_dir) ? build.watch_dir.map(watched) : watched(build.watch_dir);
	}
	if (!bindsItself(config)) table.hyperdrive = [{ binding: "POSTGRES", id: "0".repeat(ID_LENGTH) }];
	return stringify(table);
}
