/** Imports: a network file, one entry of it, or what undoes an import. All of it is taken over, or nothing. */
import { sql } from "drizzle-orm";
import type { PublishResult } from "../../campaign-book/publisher/publish.ts";
import type { Database } from "../../db/client.ts";
import { isConstraintError } from "../../db/overtaken.ts";
import { MANIFEST_CHANGED } from "../../db/schema/book.ts";
import { type Actor, mayAct } from "../../http/actor.ts";
import { invalidInput } from "../../http/errors.ts";
import type { AuditVerb } from "../../lib/access-enums.ts";
import { isAwayError } from "../../lib/away.ts";
import type { NetworkChangeKind } from "../../lib/enums.ts";
import { HttpError } from "../../lib/http.ts";
import { logError } from "../../lib/log.ts";
import { auditImport } from "./audit-import.ts";
import { checkAgainstStored, checkPlatforms, warnOfBlocks, warnOfProducts } from "./check-stored.ts";
import { commitNetwork, commitProducts } from "./commit-import.ts";
import { changesMost, overwrites, previewDifference, wouldOverwrite } from "./confirm-import.ts";
import type { ImportReport } from "./import-answer.ts";
import { type Given, ImportRun, type Stages } from "./import-run.ts";
import { changedSince, findOvertaken, hasImport, nextVersion, readVersion, type Stamp } from "./network-version.ts";
import { hashWhileRead, readFile } from "./read-file.ts";
import { findTaken } from "./stage-credentials.ts";
import { openStage } from "./stage-rows.ts";
import { takeEntries } from "./take-entries.ts";
import { stageOwners } from "./take-owners.ts";

export type ImportDeps = {
	db: Database;
	products: Database;
	/** Publishes the campaign book and lets this isolate's readers have it. */
	publish: () => Promise<PublishResult>;
	now: () => number;
	/** Takes callback addresses that are not https or not public. */
	allowInsecureCallbacks: boolean;
};

export type ImportOptions = {
	/** Says what would change, and changes nothing. */
	isDryRun: boolean;
	/** Goes on where most of the campaigns, publishers or pairs of them would stop, or an undo would overwrite what came later. */
	isConfirmed: boolean;
	/** Campaigns that a brand's list does not name are removed. */
	isComplete: boolean;
	/** The version that was read; null for whichever there is. */
	ifMatch: number | null;
	/** Who does this. */
	actor: Actor;
};

/** What is imported, and as what. */
export type Source = {
	kind: NetworkChangeKind;
	verb: AuditVerb;
	/** Unknown fields are faults. */
	isStrict: boolean;
	read: (run: ImportRun) => AsyncIterable<Given> | Iterable<Given>;
	/** Of the file, once it has been read. */
	fileHash: () => string | null;
	undoes: string | null;
	/** The import that has undone the same before. */
	undoneBy?: string | undefined;
};

/** How often the taking over is tried while others change other entries. */
const MAX_ATTEMPTS = 5;

/**
 * Imports a network file. Fields and entries that are absent keep what is stored, null clears a field. The book is published before this
 * returns.
 * @throws HttpError 422 where the file has faults, 412 where others have changed the same, 409 where it stops more than half of the
 * campaigns, publishers or pairs of them, or more than doubles most prices or shares, unasked; nothing has changed then
 */
export async function importNetwork(deps: ImportDeps, file: ReadableStream<Uint8Array>, options: ImportOptions): Promise<ImportReport> {
	const { bytes, hash } = hashWhileRead(file);
	return importEntries(
		deps,
		{ kind: "import", verb: "importNetwork", isStrict: false, read: (run) => readFile(run, bytes), fileHash: hash, undoes: null },
		options,
	);
}

/** Imports entries from any source. @throws as {@link importNetwork} */
export async function importEntries(deps: ImportDeps, source: Source, options: ImportOptions): Promise<ImportReport> {
	const startedAt = deps.now();
	const base = await readVersion(deps.db);
	if (options.ifMatch !== null && options.ifMatch !== base) throw await changedSince(deps.db, options.ifMatch, base);
	const id = crypto.randomUUID();
	const stages: Stages = { network: openStage(deps.db, id, startedAt), products: openStage(deps.products, id, startedAt) };
	const run = new ImportRun(deps.db, deps.products, stages, {
		isComplete: options.isComplete,
		isStrict: source.isStrict,
		mayReplaceKeys: mayAct(options.actor.role, "admin"),
		isUndo: source.kind === "undo",
		startedAt,
	});
	let isTakenOver = false;
	try {
		await takeEntries(run, source.read(run));
		await stageOwners(run, deps.allowInsecureCallbacks, startedAt);
		await check(run, id);
		if (run.overwritten.length > 0 && !options.isConfirmed && !options.isDryRun) throw wouldOverwrite(run.overwritten, source.undoneBy);
		run.warn(run.overwritten.map(({ section, id: entry, field }) => ({ path: `${section} ${entry}`, message: overwrites(field) })));
		const needsConfirmation = (await changesMost(run, id, options)) || run.overwritten.length > 0;
		if (options.isDryRun) {
			const shown = { ...reportOf(run, base, null), difference: previewDifference(run) };
			return { ...shown, dry_run: true, needs_confirmation: needsConfirmation, book: await bookOf(deps.db) };
		}
		const isChange = !run.difference.isEmpty || stages.network.isUsed();
		const stamp = { id, kind: source.kind, verb: source.verb, actor: options.actor, fileHash: source.fileHash(), undoes: source.undoes };
		if (!isChange && stages.products.isUsed()) await commitProducts(deps.products, id);
		const version = isChange ? await takeOver(deps, run, stamp, base, options.ifMatch !== null) : base;
		isTakenOver = true;
		// The book of a network without entries is published, too; and one that could not be, is tried again.
		if (!isChange) await deps.db.run(sql`UPDATE book_state SET manifest_dirty = ${MANIFEST_CHANGED}`);
		const book = await publish(deps, run);
		return { ...reportOf(run, version, isChange ? id : null), needs_confirmation: needsConfirmation, issued: run.issued, book };
	} catch (error) {
		throw isTakenOver ? error : explainFailure(error);
	} finally {
		if (!isTakenOver) await discard(stages);
	}
}

/** What can only be told once all entries are staged. @throws HttpError 422 */
async function check(run: ImportRun, importId: string): Promise<void> {
	await run.flushChanges();
	// One after the other: what fails must not leave the other writing behind the clearing up.
	await run.stages.network.flush();
	await run.stages.products.flush();
	run.note(await checkPlatforms(run.db, run.index.platformsUsed, new Set(run.platforms.map(({ entry }) => entry.id))));
	if (run.isSound) run.note(await checkAgainstStored(run.db, importId));
	run.warn(await warnOfBlocks(run.db, importId, run.publishers));
	run.warn(await warnOfProducts(run.db, importId, run.productDomains));
	if (!run.isSound) throw invalidInput(run.faults.items, run.faults.count);
}

/** Takes over what is staged, unless others have changed the same meanwhile. @returns the network's version then */
async function takeOver(
	{ db, products, now }: ImportDeps,
	run: ImportRun,
	stamp: Omit<Stamp, "expected" | "version" | "at">,
	base: number,
	isExact: boolean,
): Promise<number> {
	for (let attempt = 1; ; attempt++) {
		const present = await readVersion(db);
		if (present !== base) {
			const overtaken = isExact ? await changedSince(db, base, present) : await findOvertaken(db, stamp.id, base, present);
			if (overtaken !== null) throw overtaken;
			// What others have taken meanwhile, and keep: a host or a campaign id of another entry, a name or a key of another owner.
			const taken = [...(await checkAgainstStored(db, stamp.id)), ...(await findTaken(db, run.publishers, run.platforms))];
			if (taken.length > 0) throw invalidInput(taken);
		}
		// Products first: without their brands they are not shown, and taking them over again changes nothing. A file without any does
		// not need their database, which may be away while a brand has to be stopped.
		if (attempt === 1 && run.stages.products.isUsed()) await commitProducts(products, stamp.id);
		// Read again: what stops now must not be stopped for clicks that were made while the file was read.
		const at = now();
		const version = nextVersion(present, at);
		try {
			const whole: Stamp = { ...stamp, expected: present, version, at };
			await commitNetwork(db, whole, auditImport(whole, run.difference.counts, run.audited));
			return version;
		} catch (error) {
			// What failed may have been the answer alone.
			if (isAwayError(error) && (await hasImport(db, stamp.id).catch((unknown) => notKnown(stamp.id, unknown)))) return version;
			if (!isConstraintError(error) || attempt === MAX_ATTEMPTS || (await readVersion(db)) === present) throw error;
		}
	}
}

/** @throws HttpError 503 where nobody can tell whether it was taken over */
function notKnown(id: string, error: unknown): never {
	logError("import.not_known", error, { import: id });
	throw new HttpError(503, {
		error: "Perhaps taken over",
		message: `the database does not answer: look whether import ${id} was taken over before you send it again`,
	});
}

/** What is told of a failure: the database had too much to do for the time that it has, or was away for a moment. Others stay as they are. */
function explainFailure(error: unknown): unknown {
	if (!isAwayError(error)) return error;
	logError("import.not_taken_over", error);
	return new HttpError(503, {
		error: "Not taken over",
		message:
			"the database did not take the import over in the time that it has for one, and nothing of the network was changed: send it again, and a large file in parts, one after the other, each of some of its brands",
	});
}

function reportOf(run: ImportRun, version: number, id: string | null): Omit<ImportReport, "book"> {
	const { counts, difference, warnings } = run;
	return {
		id,
		version,
		dry_run: false,
		needs_confirmation: false,
		counts,
		difference: difference.answer(),
		issued: [],
		warnings: warnings.items,
		warning_count: warnings.count,
	};
}

/** Rows that cannot be removed now are removed by a later import; what went wrong before is what is told. */
async function discard({ network, products }: Stages): Promise<void> {
	for (const stage of [network, products]) {
		try {
			await stage.discard();
		} catch (error) {
			logError("import.not_discarded", error);
		}
	}
}

async function publish(deps: ImportDeps, run: ImportRun): Promise<ImportReport["book"]> {
	try {
		const published = await deps.publish();
		if (!published.complete)
			run.warn([{ path: "", message: "the campaign book is too large for one run: the rest is published within minutes" }]);
		return { version: published.version, complete: published.complete, shards_written: published.shardsWritten };
	} catch (error) {
		// The import itself is done and marked for publishing; the cron publishes it.
		logError("import.publish_failed", error);
		run.warn([{ path: "", message: "the campaign book could not be published now; it is tried again every minute" }]);
		return { version: null, complete: false, shards_written: 0 };
	}
}

/** The published book as it stands. */
async function bookOf(db: Database): Promise<ImportReport["book"]> {
	const [row] = await db.all<{ version: number }>(sql`SELECT version FROM book_state`);
	return { version: row?.version ?? 0, complete: true, shards_written: 0 };
}
