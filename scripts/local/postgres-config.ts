/** wrangler.toml with PostgreSQL bound: a binding that always stood there would always choose PostgreSQL. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.ts";
import { POSTGRES_DIR, ROOT } from "./paths.ts";
import { readSections, tablesOf } from "./wrangler-toml.ts";

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
	const own = config.replace(/^(\[\[kv_namespaces\]\]\nbinding = (["'])BOOK\2\nid = )(["']).*\3/m, `$1"${namespace}"`);
	demandOwnBook(own, namespace);
	const placed = own
		.replace(/^main = ["'](.*)["']$/m, (_, main: string) => `main = ${JSON.stringify(join(root, main))}`)
		.replace(/^\[build\]$/m, `[build]\ncwd = ${JSON.stringify(root)}\nwatch_dir = ${JSON.stringify(join(root, "src"))}`);
	return bindsItself(config) ? placed : `${placed}\n[[hyperdrive]]\nbinding = "POSTGRES"\nid = "${"0".repeat(ID_LENGTH)}"\n`;
}

/** @throws Failure where the namespace stands in another form than the project's: the book of another network would be written over */
function demandOwnBook(config: string, namespace: string): void {
	for (const { environment, table } of readSections(config))
		for (const { binding, id } of tablesOf(table, "kv_namespaces"))
			if (environment === null && binding === "BOOK" && id !== namespace)
				throw new Failure('wrangler.toml: write [[kv_namespaces]], binding = "BOOK" and its id in three lines, one below the other.');
}
