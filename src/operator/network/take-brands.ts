/** Takes brands of a file: lays them over what is stored, and stages those that change. */
import type { brands } from "../../db/schema/brands.ts";
import { canonicalHost } from "../../lib/host.ts";
import { isObject } from "../../lib/json.ts";
import { bidsOf } from "./bids-of.ts";
import { compactEntry, exportBrand, exportCampaign, type FileEntry, type Stored } from "./export-entry.ts";
import type { Given, ImportRun } from "./import-run.ts";
import { type BrandEntry, brandSchema, campaignSchema } from "./network-file.ts";
import { mergeEntry, readEntry } from "./read-entry.ts";
import { type CampaignRow, stageBrand, warnOfBrand, writeBrand, writeCampaign } from "./stage-entries.ts";
import { findStoredBrands, isSameRow, type StoredBrand, type StoredCampaign } from "./stored-entries.ts";
import { unknownFields } from "./unknown-fields.ts";

type Found = Awaited<ReturnType<typeof findStoredBrands>>;

/** Takes brands that stand behind one another in a file, with one look at what is stored of them. */
export async function takeBrands(run: ImportRun, chunk: readonly Given[]): Promise<void> {
	const found: Found = (await run.hasBrands()) ? await findOf(run, chunk) : { brands: new Map(), campaigns: new Map() };
	for (const given of chunk) await takeBrand(run, given, found);
}

function findOf(run: ImportRun, chunk: readonly Given[]): Promise<Found> {
	const domains = new Set<string>();
	const campaignIds = new Set<number>();
	for (const { value } of chunk) {
		const domain = domainOf(value);
		if (domain !== null) domains.add(domain);
		for (const campaign of campaignsOf(value)) {
			const id = isObject(campaign) ? campaign.campaign_id : null;
			if (Number.isSafeInteger(id)) campaignIds.add(Number(id));
		}
	}
	return findStoredBrands(run.db, [...domains], [...campaignIds]);
}

function domainOf(value: unknown): string | null {
	return isObject(value) && typeof value.domain === "string" ? canonicalHost(value.domain.trim()) : null;
}

function campaignsOf(value: unknown): readonly unknown[] {
	return isObject(value) && Array.isArray(value.campaigns) ? value.campaigns : [];
}

async function takeBrand(run: ImportRun, { value, path, undoing }: Given, found: Found): Promise<void> {
	run.counts.brands++;
	const stored = found.brands.get(domainOf(value) ?? "");
	const base = stored === undefined ? null : exportBrand(stored);
	// Of one that was changed the changed fields alone are known.
	const gone = [...(undoing?.campaigns ?? [])].filter(([id, expected]) => expected !== null && !found.campaigns.has(id));
	if (gone.length > 0)
		return run.note(gone.map(([id]) => ({ path: `campaigns ${id}`, message: "was removed since: undo its removal first" })));
	const read = readEntry("brands", mergeBrand(base, value, found.campaigns), path);
	if ("faults" in read) return run.note(read.faults);
	const { entry } = read;
	run.counts.campaigns += entry.campaigns.length;
	run.noteUnknown(unknownFields("brands", value, path));
	const named = new Set(entry.campaigns.map(({ campaign_id: id }) => id));
	const leaves = leaversOf(run, value, entry);
	const others = (stored?.campaigns ?? []).filter(({ campaignId }) => !named.has(campaignId));
	const removed = others.filter(({ campaignId }) => leaves || undoing?.removed.has(campaignId) === true);
	const kept = others.filter((campaign) => !removed.includes(campaign));
	run.note(run.index.claimBrand(entry, path));
	run.warn(warnOfBrand(entry, path, kept.length));
	if (undoing !== undefined) {
		run.expect("brands", entry.domain, undoing.expected, base);
		for (const [id, expected] of undoing.campaigns) {
			const present = found.campaigns.get(id);
			run.expect("campaigns", String(id), expected, present?.domain === entry.domain ? exportCampaign(present) : null);
		}
		for (const campaign of removed) {
			run.expect("campaigns", String(campaign.campaignId), undoing.removed.get(campaign.campaignId) ?? {}, exportCampaign(campaign));
		}
	}
	if (!run.isSound) return;
	const row = writeBrand(entry);
	const rows = entry.campaigns.map((campaign, at) => writeCampaign(entry.domain, campaign, `${path}.campaigns[${at}]`));
	if (!(await compare(run, { stored, base, row, rows, removed, found }))) return;
	noteBids(run, stored, row, rows, kept, removed);
	await stageBrand(run.stages.network, entry, row, rows, kept, path);
}

/** Each campaign that is named has what is stored of it beneath. */
function mergeBrand(base: FileEntry | null, value: unknown, campaigns: Found["campaigns"]): unknown {
	const merged = mergeEntry(base, value);
	if (!isObject(merged) || !Array.isArray(merged.campaigns)) return merged;
	return {
		...merged,
		campaigns: merged.campaigns.map((campaign: unknown) => {
			const present = isObject(campaign) ? campaigns.get(Number(campaign.campaign_id)) : undefined;
			return present === undefined ? campaign : mergeEntry(saidOf(exportCampaign(present)), campaign);
		}),
	};
}

/** A campaign without a budget has the usual basis, which nobody has chosen: a budget that comes without one is warned of. */
function saidOf(campaign: FileEntry): FileEntry {
	const { daily_budget, total_budget, budget_basis } = campaign;
	const isChosen = budget_basis !== "publisher" || daily_budget !== null || total_budget !== null;
	return isChosen ? campaign : { ...campaign, budget_basis: null };
}

/** Whether campaigns that are not named are removed. A brand that says nothing of campaigns keeps them in any case. */
function leaversOf({ options }: ImportRun, value: unknown, entry: BrandEntry): boolean {
	if (!isObject(value) || value.campaigns === undefined) return false;
	return value.campaigns === null || entry.campaigns_complete || options.isComplete;
}

type Compared = {
	stored: StoredBrand | undefined;
	base: FileEntry | null;
	row: ReturnType<typeof writeBrand>;
	rows: readonly CampaignRow[];
	removed: readonly StoredCampaign[];
	found: Found;
};

/** Notes how brand and campaigns differ from what is stored. @returns whether they do */
async function compare(run: ImportRun, { stored, base, row, rows, removed, found }: Compared): Promise<boolean> {
	const { difference } = run;
	const { domain } = row;
	let differs = false;
	const note = async (change: ReturnType<typeof difference.compare>) => {
		differs ||= change !== null;
		await run.record(change);
	};
	if (stored === undefined || base === null) await note(difference.add("brands", domain, () => compactBrand(exportBrand(row))));
	else if (!isSameRow(stored, row)) await note(difference.compare("brands", domain, base, exportBrand(row)));
	for (const { path: _, ...campaign } of rows) {
		const id = String(campaign.campaignId);
		const present = found.campaigns.get(campaign.campaignId);
		if (present?.domain !== domain) await note(difference.add("campaigns", id, () => compactCampaign(exportCampaign(campaign)), domain));
		else if (!isSameRow(present, campaign)) {
			await note(difference.compare("campaigns", id, exportCampaign(present), exportCampaign(campaign), domain));
		}
	}
	for (const campaign of removed) {
		await note(difference.remove("campaigns", String(campaign.campaignId), compactCampaign(exportCampaign(campaign)), domain));
	}
	return differs;
}

function compactBrand(entry: FileEntry): FileEntry {
	return compactEntry(entry, brandSchema.entries);
}

function compactCampaign(entry: FileEntry): FileEntry {
	return compactEntry(entry, campaignSchema.entries);
}

function noteBids(
	{ difference }: ImportRun,
	stored: StoredBrand | undefined,
	row: Omit<Stored<typeof brands>, "id">,
	rows: readonly CampaignRow[],
	kept: readonly StoredCampaign[],
	removed: readonly StoredCampaign[],
): void {
	const bidsNow = bidsOf(row);
	const bidBefore = stored === undefined ? () => false : bidsOf(stored);
	const before = new Map((stored?.campaigns ?? []).filter(bidBefore).map(({ campaignId, country }) => [campaignId, country]));
	for (const campaign of [...rows, ...kept]) {
		const bidIn = before.get(campaign.campaignId);
		const bidsIn = bidsNow(campaign) ? campaign.country : undefined;
		if (bidsIn === bidIn) continue;
		if (bidsIn !== undefined) difference.start(campaign.campaignId);
		if (bidIn !== undefined) difference.stop(campaign.campaignId);
	}
	for (const { campaignId } of removed) if (before.has(campaignId)) difference.stop(campaignId);
}
