import type { Target } from "./call-operator.ts";
import { readOrigin, type ServerOptions } from "./command.ts";
import { findKey } from "./find-key.ts";

/** The server that a command's options name, and the key to it. @throws Failure where the address or the key is at fault */
export function targetOf({ url, keyFile }: Pick<ServerOptions, "url" | "keyFile">): Target {
	return { origin: readOrigin(url), ...findKey(keyFile) };
}
