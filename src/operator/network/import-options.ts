/** How an import is asked for beside its file: query and If-Match. */
import * as v from "valibot";
import type { Actor } from "../../http/actor.ts";
import { flag, readInput } from "../../http/read-input.ts";
import type { ImportOptions } from "./import-network.ts";

/** Closed: a mistyped dry_run would do what it was to preview. */
const changeQuery = v.strictObject({ dry_run: flag, yes: flag });
const importQuery = v.strictObject({ ...changeQuery.entries, campaigns_complete: flag });

const versionSchema = v.pipe(
	v.string(),
	v.trim(),
	v.regex(/^(?:W\/)?"?\d{1,15}"?$|^\*$/, "must name a version of the network, as its ETag does"),
	v.transform((value) => (value === "*" ? null : Number(value.replaceAll(/\D/g, "")))),
);

/** The parts of a request that say how to import. */
type Asked = { query: () => Record<string, string>; header: (name: string) => string | undefined };

/** Of an import. @throws HttpError 422 for any other parameter, or an If-Match that names no version */
export function readImportOptions(request: Asked, actor: Actor): ImportOptions {
	const { dry_run, yes, campaigns_complete } = readInput(importQuery, request.query());
	return { isDryRun: dry_run, isConfirmed: yes, isComplete: campaigns_complete, ifMatch: readVersionMatch(request), actor };
}

/** Of an undo. It has lists of campaigns of its own: none of them is complete. @throws as {@link readImportOptions} */
export function readUndoOptions(request: Asked, actor: Actor): ImportOptions {
	return { ...readEntryOptions(request, actor), ifMatch: readVersionMatch(request) };
}

/** Of a change of one entry, whose If-Match is {@link readEntryMatch}. @throws HttpError 422 for any other parameter */
export function readEntryOptions(request: Asked, actor: Actor): ImportOptions {
	const { dry_run, yes } = readInput(changeQuery, request.query());
	return { isDryRun: dry_run, isConfirmed: yes, isComplete: false, ifMatch: null, actor };
}

/** If-Match of the network: a version of it; null where any will do. */
function readVersionMatch(request: Asked): number | null {
	const named = request.header("If-Match");
	return named === undefined ? null : readInput(v.object({ "If-Match": versionSchema }), { "If-Match": named })["If-Match"];
}

/**
 * If-Match of an entry: the ETags of states that it may be in, one of which it was read with; null where any will do. A weak one is as good:
 * proxies that compress weaken ours on their way, and the state that it names is the same.
 */
export function readEntryMatch(request: Asked): readonly string[] | null {
	const named = request.header("If-Match")?.trim();
	return named === undefined || named === "*" ? null : (named.match(/"[^"]*"/g) ?? []);
}
