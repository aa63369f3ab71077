/** How an import is asked for beside its file: query and If-Match. */
import * as v from "valibot";
import type { Actor } from "../../http/actor.ts";
import { readInput } from "../../http/read-input.ts";
import type { ImportOptions } from "./import-network.ts";

const flag = v.pipe(
	v.optional(v.picklist(["0", "1", "true", "false"], "must be 1 or 0"), "0"),
	v.transform((value) => value === "1" || value === "true"),
);

/** Closed: a mistyped dry_run would do what it was to preview. */
const querySchema = v.strictObject({ dry_run: flag, yes: flag, campaigns_complete: flag });

const versionSchema = v.pipe(
	v.string(),
	v.trim(),
	v.regex(/^(?:W\/)?"?\d{1,15}"?$|^\*$/, "must name a version of the network, as its ETag does"),
	v.transform((value) => (value === "*" ? null : Number(value.replaceAll(/\D/g, "")))),
);

/** The parts of a request that say how to import. */
type Asked = { query: () => Record<string, string>; header: (name: string) => string | undefined };

/**
 * @param isVersioned whether If-Match names a version of the network
 * @throws HttpError 422 for any other parameter, or an If-Match that names no version
 */
export function readImportOptions(request: Asked, actor: Actor, isVersioned = true): ImportOptions {
	const { dry_run, yes, campaigns_complete } = readInput(querySchema, request.query());
	const named = isVersioned ? request.header("If-Match") : undefined;
	const ifMatch = named === undefined ? null : readInput(v.object({ "If-Match": versionSchema }), { "If-Match": named })["If-Match"];
	return { isDryRun: dry_run, isConfirmed: yes, isComplete: campaigns_complete, ifMatch, actor };
}

/** If-Match of an entry: the ETag that it was read with; null where any will do. */
export function readEntryMatch(request: Asked): string | null {
	const named = request.header("If-Match")?.trim().replace(/^W\//, "");
	return named === undefined || named === "*" ? null : named;
}
