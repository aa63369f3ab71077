/** Entries of the network file, one by one. The schemas are those that read the queries, and that the answers are typed by. */
import * as v from "valibot";
import { VERB_OF } from "../../operator/network/change-entry.ts";
import {
	ENTRY_SECTIONS,
	type EntrySection,
	entryConflictSchema,
	entryPageSchema,
	fileEntrySchema,
} from "../../operator/network/entry-answers.ts";
import { FILTERS } from "../../operator/network/entry-requests.ts";
import { importReportSchema } from "../../operator/network/import-answer.ts";
import { MAX_ENTRY_BYTES } from "../../operator/routes.ts";
import type { Operation, Parameter } from "../operation.ts";
import { named } from "../schemas.ts";
import { CHANGE_QUERY, CONFIRMATION } from "./operator-network.ts";
import { faultsAnswer, largerThan, missing, NOT_TAKEN_OVER, PAGING, UNAUTHORIZED } from "./shapes.ts";

const text = v.string();

type Of = {
	noun: string;
	id: string;
	example: string;
	fields: Record<string, unknown>;
	/** What it lists, by the names of its filters. */
	filters: Record<string, string>;
};

const OF: { readonly [Section in EntrySection]: Of & { filters: Record<keyof (typeof FILTERS)[Section], string> } } = {
	platforms: {
		noun: "Platform",
		id: "Its id; `.` and `..`, which no path keeps, with `%20` behind them.",
		example: "northwind",
		fields: { max_payout: "500.00" },
		filters: { text: "In its name." },
	},
	publishers: {
		noun: "Publisher",
		id: "Its id; `.` and `..`, which no path keeps, with `%20` behind them.",
		example: "acme-media",
		fields: { status: "suspended" },
		filters: { text: "In its name.", status: "active or suspended.", blocks: "For whom this brand is blocked, by its domain." },
	},
	brands: {
		noun: "Brand",
		id: "Its domain.",
		example: "shoes.example",
		fields: { active: false },
		filters: { text: "In its name.", active: "true or false.", category: "Its category." },
	},
	campaigns: {
		noun: "Campaign",
		id: "Its id.",
		example: "9001",
		fields: { commission_rate: "7% CPS" },
		filters: {
			brand: "Of this brand, by its domain.",
			platform: "Of this platform, by its id.",
			country: "In this country.",
			active: "true or false.",
		},
	},
};

const ETAG = { etag: "The entry's state, for If-Match." };
const CHANGED_ETAG = { etag: "The entry's state after it, for If-Match; absent where somebody else has changed the network meanwhile." };

const SHARED = { tag: "Operator", host: "base", credential: "OperatorKey" } as const;

function operationsOf(section: EntrySection): Operation[] {
	const { noun, id: described, example, fields, filters } = OF[section];
	const schemas: Record<string, v.GenericSchema> = FILTERS[section];
	const id: Parameter = { in: "path", name: "id", description: described, schema: text, example };
	const what = noun.toLowerCase();
	return [
		{
			...SHARED,
			role: "viewer",
			method: "get",
			path: `/operator/${section}`,
			id: `list${noun}Entries`,
			summary: `List ${section}`,
			description:
				"As entries of the network file, with every field but keys and secrets (`***` in a `callback_url` for those who cannot change it), in the order of their ids. A page looks at 10,000 at the most: where a filter finds few, it may be short, and the next one goes on.",
			parameters: [
				...Object.entries(filters).map(
					([name, description]): Parameter => ({ in: "query", name, description, schema: schemas[name] ?? text }),
				),
				...PAGING,
			],
			answers: {
				200: { description: "A page.", content: { schema: named("EntryPage", entryPageSchema) } },
				401: UNAUTHORIZED,
				422: faultsAnswer,
			},
		},
		{
			...SHARED,
			role: "viewer",
			method: "get",
			path: `/operator/${section}/{id}`,
			id: `show${noun}Entry`,
			summary: `Show a ${what}`,
			description:
				"In the form of the network file, with every field, also those that an export of the network leaves out as defaults; without keys and secrets (`***` in a `callback_url` for those who cannot change it).",
			parameters: [id],
			answers: {
				200: { description: "The entry of the network file.", headers: ETAG, content: { schema: fileEntrySchema } },
				401: UNAUTHORIZED,
				404: missing("There is no such entry.", `There is no such ${what}.`),
				422: faultsAnswer,
			},
		},
		{
			...SHARED,
			role: "manager",
			method: "patch",
			path: `/operator/${section}/{id}`,
			id: VERB_OF[section],
			summary: `Change a ${what}`,
			description:
				"Fields of its entry in the network file: an absent one keeps what is stored, null clears it. Faults name a field by its own path; an unknown one is a fault.",
			parameters: [
				id,
				...CHANGE_QUERY,
				{ in: "header", name: "If-Match", description: "ETag of the entry that was read; of several, one has to fit.", schema: text },
			],
			body: { required: true, contents: [{ schema: fileEntrySchema, example: fields }] },
			answers: {
				200: { description: "What changed, or would.", headers: CHANGED_ETAG, content: { schema: importReportSchema } },
				401: UNAUTHORIZED,
				404: missing("There is no such entry.", `There is no such ${what}.`),
				409: CONFIRMATION,
				412: {
					description: "The entry is another than the one that was read.",
					content: { schema: named("EntryConflict", entryConflictSchema) },
				},
				413: largerThan(MAX_ENTRY_BYTES),
				422: faultsAnswer,
				503: NOT_TAKEN_OVER,
			},
		},
	];
}

export const OPERATOR_ENTRY_OPERATIONS: readonly Operation[] = ENTRY_SECTIONS.flatMap(operationsOf);
