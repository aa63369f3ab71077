/** The whole network, or sections of it, as a network file that is written while it is read. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { allColumns } from "../../db/json-rows.ts";
import { brands } from "../../db/schema/brands.ts";
import { exchangeRates, platforms } from "../../db/schema/platforms.ts";
import { products, sellerProducts } from "../../db/schema/products.ts";
import { publishers } from "../../db/schema/publishers.ts";
import type { PersonRole } from "../../lib/access-enums.ts";
import { utf8 } from "../../lib/utf8.ts";
import {
	compactEntry,
	exportPlatform,
	exportProduct,
	exportPublisher,
	exportRate,
	exportSellerProduct,
	exportTraffic,
	type FileEntry,
	type Stored,
	shownTo,
	withoutSecrets,
} from "./export-entry.ts";
import { exportLearning } from "./learning-file.ts";
import { brandSchema, campaignSchema, platformSchema, productSchema, publisherSchema, sellerProductSchema } from "./network-file.ts";
import { exportBrands } from "./read-entries.ts";
import { readNetworkSettings } from "./stored-entries.ts";

/** Sections that an export can have. */
export const EXPORT_SECTIONS = [
	"traffic",
	"epc_learning",
	"platforms",
	"publishers",
	"brands",
	"exchange_rates",
	"products",
	"seller_products",
] as const;
export type ExportSection = (typeof EXPORT_SECTIONS)[number];

/** Those it has where nobody says: products come by feeds, and may be millions. */
export const DEFAULT_EXPORT: readonly ExportSection[] = ["traffic", "epc_learning", "platforms", "publishers", "brands", "exchange_rates"];

/** Rows of a page: an invocation has 1,000 statements, of which a page of brands takes two. */
const PAGE = 2_000;

type ExportDeps = { db: Database; products: Database; baseUrl: string };

/** A file of these sections, as a role may see them: fields that are the default are left out, and so are keys and secrets. */
export function exportNetwork(deps: ExportDeps, sections: readonly ExportSection[], role: PersonRole): ReadableStream<Uint8Array> {
	const text = writeFile(deps, sections, role);
	return new ReadableStream<Uint8Array>({
		async pull(controller) {
			const { done, value } = await text.next();
			if (done) controller.close();
			else controller.enqueue(utf8(value));
		},
		async cancel() {
			await text.return();
		},
	});
}

async function* writeFile(deps: ExportDeps, sections: readonly ExportSection[], role: PersonRole): AsyncGenerator<string, void> {
	yield `{\n\t"$schema": ${JSON.stringify(`${deps.baseUrl}/network.schema.json`)}`;
	for (const section of sections) {
		if (section === "traffic" || section === "epc_learning") {
			const { traffic, epcLearning } = await readNetworkSettings(deps.db);
			const settings = section === "traffic" ? exportTraffic(traffic) : exportLearning(epcLearning);
			if (settings !== null) yield `,\n\t"${section}": ${JSON.stringify(settings)}`;
			continue;
		}
		yield `,\n\t"${section}": [`;
		let separator = "";
		for await (const entries of PAGES[section](deps)) {
			if (entries.length === 0) continue;
			yield entries
				.map((entry, at) => `${at === 0 ? separator : ","}\n\t\t${JSON.stringify(shownTo(role, withoutSecrets(entry)))}`)
				.join("");
			separator = ",";
		}
		yield "\n\t]";
	}
	yield "\n}\n";
}

type Pages = (deps: ExportDeps) => AsyncGenerator<FileEntry[], void>;

const PAGES: Readonly<Record<Exclude<ExportSection, "traffic" | "epc_learning">, Pages>> = {
	async *platforms({ db }) {
		const rows = await db.select().from(platforms).orderBy(platforms.id);
		yield rows.map((row) => compactEntry(exportPlatform(row), platformSchema.entries));
	},
	async *publishers({ db }) {
		const rows = await db.select().from(publishers).orderBy(publishers.id);
		yield rows.map((row) => compactEntry(exportPublisher(row), publisherSchema.entries));
	},
	async *brands({ db }) {
		let last = "";
		for (;;) {
			const rows = await db.all<Stored<typeof brands>>(
				sql`SELECT ${allColumns(brands, "b")} FROM brands b WHERE b.domain > ${last} ORDER BY b.domain LIMIT ${PAGE}`,
			);
			yield (await exportBrands(db, rows)).map(compactBrandEntry);
			if (rows.length < PAGE) return;
			last = rows.at(-1)?.domain ?? "";
		}
	},
	async *exchange_rates({ db }) {
		let last = "";
		for (;;) {
			const rows = await db.all<Stored<typeof exchangeRates>>(
				sql`SELECT ${allColumns(exchangeRates, "r")} FROM exchange_rates r WHERE r.id > ${last} ORDER BY r.id LIMIT ${PAGE}`,
			);
			yield rows.map(exportRate);
			if (rows.length < PAGE) return;
			last = rows.at(-1)?.id ?? "";
		}
	},
	async *products({ products: db }) {
		let last = "";
		for (;;) {
			const rows = await db.all<Stored<typeof products>>(
				sql`SELECT ${allColumns(products, "p")} FROM products p WHERE p.id > ${last} ORDER BY p.id LIMIT ${PAGE}`,
			);
			yield rows.map((row) => compactEntry(exportProduct(row), productSchema.entries));
			if (rows.length < PAGE) return;
			last = rows.at(-1)?.id ?? "";
		}
	},
	async *seller_products({ products: db }) {
		let last = { asin: "", sellerId: "" };
		for (;;) {
			const rows = await db.all<Stored<typeof sellerProducts>>(
				sql`SELECT ${allColumns(sellerProducts, "p")} FROM seller_products p
					WHERE (p.asin, p.seller_id) > (${last.asin}, ${last.sellerId}) ORDER BY p.asin, p.seller_id LIMIT ${PAGE}`,
			);
			yield rows.map((row) => compactEntry(exportSellerProduct(row), sellerProductSchema.entries));
			if (rows.length < PAGE) return;
			last = rows.at(-1) ?? last;
		}
	},
};

function compactBrandEntry({ campaigns, ...brand }: FileEntry): FileEntry {
	const listed = campaigns as readonly FileEntry[];
	return {
		...compactEntry(brand, brandSchema.entries),
		...(listed.length > 0 && { campaigns: listed.map((campaign) => compactEntry(campaign, campaignSchema.entries)) }),
	};
}
