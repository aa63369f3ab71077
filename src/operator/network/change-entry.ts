/** One entry changed or added: an import of it alone, in which unknown fields are faults. */
import { type Fault, invalidInput, notThere } from "../../http/errors.ts";
import type { AuditVerb } from "../../lib/access-enums.ts";
import { canonicalHost } from "../../lib/host.ts";
import { conflict, HttpError } from "../../lib/http.ts";
import { isObject } from "../../lib/json.ts";
import type { EntrySection } from "./entry-answers.ts";
import type { ImportReport } from "./import-answer.ts";
import { type ImportDeps, type ImportOptions, importEntries, type Source } from "./import-network.ts";
import type { Given } from "./import-run.ts";
import { findEntry } from "./read-entries.ts";

/** The 404 of an entry that is not there. */
export function noSuchEntry(section: EntrySection): HttpError {
	return notThere(`There is no such ${section.slice(0, -1)}.`);
}

/** Where the entry stands in faults and warnings, which tell of its fields alone. */
const PLACE = "entry";

/** The field by which the entries of a section are told apart. */
export const ENTRY_KEYS = { platforms: "id", publishers: "id", brands: "domain", campaigns: "campaign_id" } as const;

/** The operations, as /openapi-operator.json has them. */
export const VERB_OF: Readonly<Record<EntrySection, AuditVerb>> = {
	platforms: "changePlatformEntry",
	publishers: "changePublisherEntry",
	brands: "changeBrandEntry",
	campaigns: "changeCampaignEntry",
};

type Change = {
	section: EntrySection;
	id: string;
	/** The fields that change, null to clear one. */
	fields: unknown;
	/** The entry's states, one of which was read; null for any. */
	etags: readonly string[] | null;
};

/**
 * Changes fields of a stored entry.
 * @throws HttpError 404 where there is no such entry, 412 where it is another than the one that was read; and as imports do
 */
export async function changeEntry(deps: ImportDeps, { section, id, fields, etags }: Change, options: ImportOptions): Promise<ImportReport> {
	if (!isObject(fields)) throw invalidInput([{ path: "", message: "must be an object of fields" }]);
	async function* read(): AsyncGenerator<Given> {
		const found = await findEntry(deps.db, section, id);
		if (found === null) throw noSuchEntry(section);
		if (etags !== null && !etags.includes(found.etag)) {
			const message = "the entry is another than the one that was read: look at it, and send it again";
			throw conflict(message, { etag: found.etag, entry: found.entry });
		}
		yield givenOf(section, found.entry, fields as Record<string, unknown>);
	}
	return importOne(deps, section, { kind: "patch", verb: VERB_OF[section], read }, options);
}

/**
 * Adds an entry, as an import of it alone does.
 * @param fields with what names it; of a campaign, `brand` names the brand that it is to be of
 * @throws HttpError 422 where there is one of its name already, or a campaign's brand is none; and as imports do
 */
export async function addEntry(
	deps: ImportDeps,
	{ section, fields }: Omit<Change, "id" | "etags">,
	options: ImportOptions,
): Promise<ImportReport> {
	if (!isObject(fields)) throw invalidInput([{ path: "", message: "must be an object of fields" }]);
	async function* read(): AsyncGenerator<Given> {
		const { brand, ...own } = fields as Record<string, unknown>;
		const key = ENTRY_KEYS[section];
		if ((await findEntry(deps.db, section, String(own[key] ?? "").trim())) !== null)
			throw invalidInput([{ path: key, message: "is there already: change that one" }]);
		if (section !== "campaigns") return yield { section, value: fields, path: PLACE };
		const domain = typeof brand === "string" ? canonicalHost(brand.trim()) : null;
		if (domain === null || (await findEntry(deps.db, "brands", domain)) === null)
			throw invalidInput([{ path: "brand", message: "is no brand's domain" }]);
		yield { section: "brands", value: { domain, campaigns: [own] }, path: PLACE };
	}
	return importOne(deps, section, { kind: "import", verb: "importNetwork", read }, options);
}

/** Imports one entry, and tells of its fields by their own names. */
async function importOne(
	deps: ImportDeps,
	section: EntrySection,
	source: Pick<Source, "kind" | "verb" | "read">,
	options: ImportOptions,
): Promise<ImportReport> {
	try {
		const report = await importEntries(deps, { ...source, isStrict: true, fileHash: () => null, undoes: null }, options);
		return { ...report, warnings: withOwnPaths(report.warnings, section) };
	} catch (error) {
		if (!(error instanceof HttpError) || error.status !== 422) throw error;
		const faults = Array.isArray(error.body.faults) ? (error.body.faults as Fault[]) : [];
		throw invalidInput(withOwnPaths(faults, section), Number(error.body.fault_count));
	}
}

/** What names the entry may stand among the fields, as long as it names this one. */
function givenOf(section: EntrySection, entry: Readonly<Record<string, unknown>>, fields: Record<string, unknown>): Given {
	const names = section === "campaigns" ? ["campaign_id", "brand"] : [ENTRY_KEYS[section]];
	const given = (name: string) => (name === "domain" || name === "brand" ? domainOf(fields[name]) : fields[name]);
	const others = names.filter((name) => fields[name] !== undefined && given(name) !== entry[name]);
	if (others.length > 0) throw invalidInput(others.map((path) => ({ path, message: "names another entry: it cannot be changed" })));
	const key = ENTRY_KEYS[section];
	const { brand, ...own } = fields;
	if (section !== "campaigns") return { section, value: { ...fields, [key]: entry[key] }, path: PLACE };
	return { section: "brands", value: { domain: entry.brand, campaigns: [{ ...own, [key]: entry[key] }] }, path: PLACE };
}

function domainOf(given: unknown): unknown {
	return typeof given === "string" ? canonicalHost(given) : given;
}

function withOwnPaths(faults: readonly Fault[], section: EntrySection): Fault[] {
	const place = section === "campaigns" ? `${PLACE}.campaigns[0]` : PLACE;
	return faults.map(({ path, message }) => ({ path: ownPath(path, place), message }));
}

function ownPath(path: string, place: string): string {
	if (path === place) return "";
	return path.startsWith(`${place}.`) ? path.slice(place.length + 1) : path;
}
