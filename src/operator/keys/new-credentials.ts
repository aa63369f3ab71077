/** New names of publishers: those that an import issues and those of a rotation. */
import type { NameKind } from "../../lib/access-enums.ts";
import { newSecret } from "../../lib/ids.ts";

/** A new publisher id or identity. */
export function newName(kind: NameKind): string {
	return kind === "publisher_id" ? newPublisherId() : newSecret("pub");
}

/** A publisher id as account managers hand them out: ten digits, not in a row anyone can count. */
function newPublisherId(): string {
	const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
	return String(1_000_000_000 + ((high * 2 ** 20 + (low >>> 12)) % 9_000_000_000));
}
