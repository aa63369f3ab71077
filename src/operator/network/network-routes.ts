/** The network file and its entries, read and changed. */
import { Hono } from "hono";
import * as v from "valibot";
import { actorOf } from "../../http/actor.ts";
import { notThere } from "../../http/errors.ts";
import { isSomeOf } from "../../http/period.ts";
import { readBody, readInput, readQuery } from "../../http/read-input.ts";
import { jsonResponse } from "../../lib/http.ts";
import { parseJson } from "../../lib/json.ts";
import { ofSegment } from "../../lib/path-segment.ts";
import { changeEntry, noSuchEntry } from "./change-entry.ts";
import type { EntrySection } from "./entry-answers.ts";
import { readListQuery } from "./entry-requests.ts";
import { shownTo } from "./export-entry.ts";
import { DEFAULT_EXPORT, EXPORT_SECTIONS, type ExportSection, exportNetwork } from "./export-network.ts";
import { type ImportDeps, importNetwork } from "./import-network.ts";
import { readEntryMatch, readEntryOptions, readImportOptions, readUndoOptions } from "./import-options.ts";
import { readVersion } from "./network-version.ts";
import { findEntry, listEntries } from "./read-entries.ts";
import { findImport, importsQuerySchema, listImports } from "./read-imports.ts";
import { undoImport, undoSchema } from "./undo-import.ts";

/** `sections` of an export, with commas between them. */
const exportQuery = v.strictObject({
	sections: v.optional(
		v.pipe(
			v.string(),
			v.transform((text) => text.split(",")),
			v.custom<ExportSection[]>((given) => isSomeOf(EXPORT_SECTIONS, given), `must be some of ${EXPORT_SECTIONS.join(", ")}`),
		),
	),
});

/** GET, POST /operator/network, GET of its imports, and POST /operator/network/undo. */
export function networkRoutes(deps: ImportDeps & { baseUrl: string }): Hono {
	const app = new Hono();
	app.get("/", async (c) => {
		const { sections = DEFAULT_EXPORT } = readQuery(exportQuery, c.req.query());
		const version = await readVersion(deps.db);
		const asked = EXPORT_SECTIONS.filter((section) => sections.includes(section));
		return new Response(exportNetwork(deps, asked, actorOf(c).role), {
			headers: { "content-type": "application/json", etag: `"${version}"` },
		});
	});
	app.post("/", async (c) =>
		jsonResponse(await importNetwork(deps, c.req.raw.body ?? new Blob([]).stream(), readImportOptions(c.req, actorOf(c)))),
	);
	app.get("/imports", async (c) => jsonResponse(await listImports(deps, readQuery(importsQuerySchema, c.req.query()))));
	app.get("/imports/:id", async (c) => {
		readInput(v.strictObject({}), c.req.query());
		const found = await findImport(deps, c.req.param("id"), actorOf(c).role);
		if (found === null) throw notThere("There is no such import.");
		return jsonResponse(found);
	});
	app.post("/undo", async (c) => {
		const options = readUndoOptions(c.req, actorOf(c));
		return jsonResponse(await undoImport(deps, await readBody(c.req.raw, undoSchema), options));
	});
	return app;
}

/** GET /operator/{section}, and GET and PATCH of one of its entries. */
export function entryRoutes(deps: ImportDeps, section: EntrySection): Hono {
	const app = new Hono();
	app.get("/", async (c) => {
		const page = await listEntries(deps.db, section, readListQuery(section, c.req.query()));
		return jsonResponse({ ...page, data: page.data.map((entry) => shownTo(actorOf(c).role, entry)) });
	});
	app.get("/:id", async (c) => {
		readInput(v.strictObject({}), c.req.query());
		const found = await findEntry(deps.db, section, ofSegment(c.req.param("id")));
		if (found === null) throw noSuchEntry(section);
		return jsonResponse(shownTo(actorOf(c).role, found.entry), 200, { etag: found.etag });
	});
	app.patch("/:id", async (c) => {
		const id = ofSegment(c.req.param("id"));
		const change = { section, id, fields: parseJson(await c.req.text()), etags: readEntryMatch(c.req) };
		const report = await changeEntry(deps, change, readEntryOptions(c.req, actorOf(c)));
		const found = await findEntry(deps.db, section, id);
		// Of a state that somebody else has made meanwhile, and that the caller has not seen, the ETag would let the caller overwrite it.
		const isOwn = (await readVersion(deps.db)) === report.version;
		return jsonResponse(report, 200, found !== null && isOwn ? { etag: found.etag } : {});
	});
	return app;
}
