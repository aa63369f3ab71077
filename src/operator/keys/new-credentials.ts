/** New credentials of publishers and platforms: those that an import issues and those of a rotation. */
import type { KeyKind, NameKind } from "../../lib/enums.ts";
import { newSecret } from "../../lib/ids.ts";

const PREFIX: Record<KeyKind, string> = { access_key: "ak", publisher_key: "pk", platform_key: "plk" };

/** A new secret of a kind: shown once, stored as its hash. */
export function newKey(kind: KeyKind): string {
	return newSecret(PREFIX[kind]);
}

/** A new publisher id or identity. */
export function newName(kind: NameKind): string {
	return kind === "publisher_id" ? newPublisherId() : newSecret("pub");
}

/** A publisher id as account managers hand them out: ten digits, not in a row anyone can count. */
function newPublisherId(): string {
	const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
	return String(1_000_000_000 + ((high * 2 ** 20 + (low >>> 12)) % 9_000_000_000));
}
