import { dirname, join } from "node:path";

/** The project's folder. */
export const ROOT = dirname(dirname(import.meta.dirname));
/** Secrets of the local server, written by its first start. */
export const DEV_VARS = join(ROOT, ".dev.vars");
/** What wrangler keeps: databases and key-value stores, and beside them logs. */
export const WRANGLER_DIR = join(ROOT, ".wrangler");
export const STATE_DIR = join(WRANGLER_DIR, "state");
/** The PostgreSQL that npm installs on first need, and the configuration that binds it. */
export const POSTGRES_DIR = join(WRANGLER_DIR, "postgres");
/** Names the local server that uses this folder's state. */
export const RUNNING_FILE = join(WRANGLER_DIR, "running.json");
/** The port at which callbacks of the local network arrive: it is part of addresses in the state. */
export const CALLBACK_PORT_FILE = join(STATE_DIR, "callback-port");
