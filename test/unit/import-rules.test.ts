/** Every import of src/ and scripts/ keeps to the map of parts (scripts/checks/parts/map.ts), and a forbidden one would be seen. */
import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkImports, checkMap, findCircles, findUnused } from "../../scripts/checks/parts/check-imports.ts";
import { MAP_PATH } from "../../scripts/checks/parts/map.ts";
import { COMMAND, PAGE, printedIn, printInto, printParts } from "../../scripts/checks/parts/parts-table.ts";

const FILES = new Map(globSync("{src,scripts}/**/*.{ts,tsx,mts,cts,js,mjs,cjs}").map((file) => [file, readFileSync(file, "utf8")]));

describe("unit: the imports of src/ and scripts/", { timeout: 30_000 }, () => {
	it("keep to the map", () => {
		expect(FILES.size).toBeGreaterThan(250);
		expect(checkImports(FILES)).toEqual([]);
	});

	it("make use of all that the map allows", () => {
		expect(findUnused(FILES), `take it out of ${MAP_PATH}`).toEqual([]);
	});

	it("go one way: a part imports only what stands above it in the map", () => {
		expect(checkMap()).toEqual([]);
	});

	it("go in no circle, of types neither", () => {
		expect(findCircles(FILES)).toEqual([]);
		const circle = [
			["src/lib/a.ts", 'import { b } from "./b.ts";'],
			["src/lib/b.ts", 'import type { C } from "../http/c.ts";'],
			["src/http/c.ts", 'import { a } from "../lib/a.ts";'],
			["src/http/d.ts", 'import { c } from "./c.ts";'],
		] as const;
		expect(findCircles(new Map(circle))).toEqual(["src/lib/a.ts → src/lib/b.ts → src/http/c.ts → src/lib/a.ts"]);
		expect(findCircles(new Map(circle.slice(0, 2)))).toEqual([]);
	});

	it("are what the page of the architecture says", () => {
		expect(printedIn(readFileSync(PAGE, "utf8")), `run: ${COMMAND}`).toBe(printParts());
	});
});

/** A file that is or could be there, an import in it, and what is named as forbidden. */
const FORBIDDEN: readonly (readonly [file: string, statement: string])[] = [
	// Parts that no rule used to stand before.
	["src/reports/report.ts", 'import { CampaignBook } from "../campaign-book/load.ts";'],
	["src/products/routes.ts", 'import { publishBook } from "../campaign-book/publisher/publish.ts";'],
	["src/catalogue/routes.ts", 'import { removeOld } from "../retention/remove-old.ts";'],
	["src/keys/key-owners.ts", 'import { reportRoutes } from "../reports/routes.ts";'],
	["src/retention/remove-old.ts", 'import { settle } from "../conversions/settle.ts";'],
	["src/dead-letters/keep-dead-letters.ts", 'import { consumeClicks } from "../clicks/consumer/consume-clicks.ts";'],
	["src/http/guard.ts", 'import { openDatabase } from "../db/client.ts";'],
	["src/bidding/routes.ts", 'import { explainRoutes } from "./explain-route.ts";'],
	["src/bidding/routes.ts", 'import { explainBid } from "./explain.ts";'],
	["src/variables.ts", 'import { HOUR_MS } from "./lib/time.ts";'],
	["src/config.ts", 'import { edgeOf } from "./edge.ts";'],
	["src/edge.ts", 'import { openOrigin } from "./origin.ts";'],
	// From every depth.
	["src/callbacks/claim-callback.ts", 'import { runAuction } from "../bidding/auction.ts";'],
	["src/callbacks/delivery/deep/attempt.ts", 'import { runAuction } from "../../../bidding/auction.ts";'],
	["src/db/schema/brands.ts", 'import { runAuction } from "../../bidding/auction.ts";'],
	["src/db/schema/brands.ts", 'import { openDatabase } from "../client.ts";'],
	["src/db/client.ts", 'import { runAuction } from "../bidding/auction.ts";'],
	["src/operator/feeds/csv.ts", 'import { operatorRoutes } from "../routes.ts";'],
	["src/operator/keys/manage-keys.ts", 'import { readEntry } from "../network/read-entry.ts";'],
	["src/operator/status/read-status.ts", 'import { CampaignBook } from "../../campaign-book/load.ts";'],
	["src/api-docs/operations/bids.ts", 'import { routeBid } from "../../bidding/routes.ts";'],
	["src/lib/money.ts", 'import { NO_BID } from "../openrtb/no-bid.ts";'],
	["src/lib/deep/down/leaf.ts", 'import { edgeOf } from "../../../edge.ts";'],
	// A part within a part is another part, both ways.
	["src/campaign-book/load.ts", 'import { publishBook } from "./publisher/publish.ts";'],
	["src/clicks/redirect-route.ts", 'import { consumeClicks } from "./consumer/consume-clicks.ts";'],
	["src/clicks/consumer/caps.ts", 'import { CampaignBook } from "../../campaign-book/load.ts";'],
	["src/bidding/hold-auction.ts", 'import { publishBook } from "../campaign-book/publisher/publish.ts";'],
	// Of every kind.
	["src/reports/report.ts", 'import type { CampaignBook } from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'import { type CampaignBook } from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'import "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'import * as book from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'import book, {\n\ttype Manifest,\n} from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'export * from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'export * as book from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'export { CampaignBook } from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'export type { CampaignBook } from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'export type * from "../campaign-book/load.ts";'],
	["src/reports/report.ts", 'const book = await import("../campaign-book/load.ts");'],
	["src/reports/report.ts", "const book = () => import(`../campaign-book/load.ts`);"],
	["src/reports/report.ts", 'let book: import("../campaign-book/load.ts").CampaignBook;'],
	["src/reports/report.ts", 'let book: typeof import("../campaign-book/load.ts");'],
	["src/reports/report.ts", 'const book = require("../campaign-book/load.ts");'],
	["src/reports/report.ts", 'import book = require("../campaign-book/load.ts");'],
	["src/reports/report.ts", 'declare module "../campaign-book/load.ts" {}'],
	["src/reports/report.ts", '/// <reference path="../campaign-book/load.ts" />'],
	["src/bidding/auction.ts", '/// <reference types="drizzle-orm" />'],
	["src/reports/report.ts", 'import book from "../campaign-book/load.ts?raw";'],
	["src/reports/report.ts", 'import book from "../campaign-book";'],
	["src/reports/report.ts", 'import book from "../lib/../campaign-book/load.ts";'],
	["src/reports/extra.mjs", 'import book from "../campaign-book/load.ts";'],
	// What cannot be told.
	["src/reports/report.ts", "const book = await import(path);"],
	["scripts/bench/main.ts", "const part = await import(path);"],
	// Packages, and what Node brings.
	["src/bidding/auction.ts", 'import { sql } from "drizzle-orm";'],
	["src/clicks/record-click.ts", 'import { drizzle } from "drizzle-orm/d1";'],
	["src/lib/http.ts", 'import type { Context } from "hono";'],
	["src/reports/report.ts", 'import * as v from "valibot";'],
	["src/keys/key-owners.ts", 'import { bodyLimit } from "hono/body-limit";'],
	["src/lib/bytes.ts", 'import { createHash } from "node:crypto";'],
	["src/lib/bytes.ts", 'import { Buffer } from "buffer";'],
	["src/lib/bytes.ts", 'import money from "src/bidding/auction.ts";'],
	["src/lib/bytes.ts", 'import money from "/src/bidding/auction.ts";'],
	// Commands.
	["scripts/operator/commands/status.ts", 'import { readStatus } from "../../../src/operator/status/read-status.ts";'],
	["scripts/operator/split-feed.ts", 'import { importFeed } from "../../src/operator/feeds/import-feed.ts";'],
	["scripts/demo/brands.ts", 'import { domainKey } from "../../src/campaign-book/format.ts";'],
	["scripts/certify/openrtb-rules.ts", 'import { readBidRequest } from "../../src/openrtb/read-request.ts";'],
	["scripts/local/port.ts", 'import { callOperator } from "../operator/call-operator.ts";'],
	["scripts/run.mjs", 'import { Failure } from "./local/failure.ts";'],
	["scripts/run.mjs", 'import { Command } from "commander";'],
	["scripts/local/install.mjs", 'import { Failure } from "./failure.ts";'],
	["scripts/start.ts", 'import { cold } from "./bench/catalogue/cold.ts";'],
	["scripts/bench/parts/publish.ts", 'import { edgeOf } from "../../../src/edge.ts";'],
	// Outside of src/ and scripts/.
	["src/lib/money.ts", 'import { arbitrary } from "../../test/support/bid-arbitraries.ts";'],
	["src/reports/report.ts", 'import style from "../../.build/viewer/swagger-ui.css.gz.bin";'],
	["scripts/soak/journey.ts", 'import { benchClick } from "../../test/bench/click-messages.ts";'],
];

describe("unit: a forbidden import", () => {
	it.each(FORBIDDEN)("of %s is named with file and line: %s", (file, statement) => {
		const text = `/** Its first line. */\n${statement}\n`;
		const faults = checkImports(new Map([[file, text]])).filter((fault) => !fault.includes("reaches"));
		expect(faults).toEqual([expect.stringContaining(`${file}:2: `)]);
		expect(faults[0]).toContain(MAP_PATH);
		expect(faults[0]).toContain(/["'`]([^"'`]+)["'`]/.exec(statement)?.[1] ?? "a literal");
	});

	it("is JSX, which is compiled to an import, once a file", () => {
		const faults = checkImports(
			new Map([["src/lib/page.tsx", "\nexport const page = <p>Hello <b>you</b></p>;\nexport const none = <></>;\n"]]),
		);
		expect(faults).toEqual([expect.stringContaining('src/lib/page.tsx:2: JSX "hono/jsx": src/lib may import only ')]);
		const other = checkImports(new Map([["src/console/menu.tsx", "/** @jsxImportSource react */\n"]]));
		expect(other).toEqual([expect.stringContaining('src/console/menu.tsx:1: JSX of "react": src/console may import only ')]);
	});

	it("says what the part may import instead", () => {
		expect(checkImports(new Map([["scripts/run.mjs", 'import "./local/failure.ts";\n']]))).toEqual([
			`scripts/run.mjs:1: import for effect "./local/failure.ts": scripts/run.mjs may import nothing (${MAP_PATH})`,
		]);
		expect(checkImports(new Map([["src/db/schema/brands.ts", 'import "../client.ts";\nexport * from "hono";\n']]))).toEqual([
			`src/db/schema/brands.ts:1: import for effect "../client.ts": src/db/schema may import only src/lib/access-enums.ts, src/lib/enums.ts, src/lib/openrtb-options.ts, src/lib/traffic-rules.ts (${MAP_PATH})`,
			`src/db/schema/brands.ts:2: export * from "hono": src/db/schema may import only drizzle-orm of packages (${MAP_PATH})`,
		]);
	});

	it("is one of each, where there are several", () => {
		const text = 'import { a } from "../bidding/a.ts";\nimport { b } from "../lib/b.ts";\nexport { c } from "../operator/c.ts";\n';
		const faults = checkImports(new Map([["src/products/routes.ts", text]]));
		expect(faults.map((fault) => fault.slice(0, "src/products/routes.ts:1".length))).toEqual([
			"src/products/routes.ts:1",
			"src/products/routes.ts:3",
		]);
	});

	it.each([
		["a comment", '// import { runAuction } from "../bidding/auction.ts";\n'],
		["a text", "const text = 'import { runAuction } from \"../bidding/auction.ts\"';\n"],
		["an import of its own part", 'export * from "./sums.ts";\n'],
		[
			"an import that the map allows",
			'import { Hono } from "hono";\nimport { bodyLimit } from "hono/body-limit";\nimport "../lib/time.ts";\n',
		],
	])("is not %s", (_, text) => {
		expect(checkImports(new Map([["src/reports/report.ts", text]]))).toEqual([]);
	});
});

describe("unit: what the edge must not reach", () => {
	it("is found over several imports, each of which is allowed", () => {
		const files = new Map([
			["src/edge.ts", 'import { routeBid } from "./bidding/routes.ts";\n'],
			["src/bidding/routes.ts", 'import { hold } from "./deep/hold.ts";\n'],
			["src/bidding/deep/hold.ts", 'import { check } from "../../lib/callback-url.ts";\n'],
			["src/lib/callback-url.ts", '\nimport ipaddr from "ipaddr.js";\n'],
		]);
		expect(checkImports(files)).toEqual([
			"src/lib/callback-url.ts:2: imports ipaddr.js, so that src/edge.ts reaches ipaddr.js: " +
				`src/edge.ts → src/bidding/routes.ts → src/bidding/deep/hold.ts → src/lib/callback-url.ts → ipaddr.js (${MAP_PATH})`,
		]);
	});

	it.each([
		["the database", 'import type { Database } from "../db/client.ts";', "src/db/client.ts"],
		["the schema", 'import "../db/schema/brands.ts";', "src/db/schema/brands.ts"],
		["drizzle", 'const orm = import("drizzle-orm");', "drizzle-orm"],
		["the publisher of the book", 'export * from "../campaign-book/publisher/publish.ts";', "src/campaign-book/publisher/publish.ts"],
		["the consumer of clicks", 'import "../clicks/consumer/caps.ts";', "src/clicks/consumer/caps.ts"],
	])("is %s, of the files as they are", (_, statement, reached) => {
		const present = FILES.get("src/bidding/hold-auction.ts");
		const faults = checkImports(new Map([...FILES, ["src/bidding/hold-auction.ts", `${present}${statement}\n`]]));
		expect(faults).toContainEqual(expect.stringContaining(`so that src/edge.ts reaches ${reached}: src/edge.ts → `));
	});
});

describe("unit: the map of parts", () => {
	it("has a part for every file", () => {
		expect(checkImports(new Map([["src/billing/pay.ts", ""]]))).toEqual([
			`src/billing/pay.ts: belongs to no part. Give it one in ${MAP_PATH}.`,
		]);
	});

	it("allows no circle and nothing upwards", () => {
		const part = (path: string, imports: string[]) => ({ path, job: "", imports, packages: [] });
		const parts = [part("src/a", ["src/b"]), part("src/b", ["src/a", "src/a/file.ts"]), part("src/c", ["src/c", "src/d/file.ts"])];
		expect(checkMap(parts).map((fault) => fault.split(":")[0])).toEqual(["src/a → src/b", "src/c → src/c", "src/c → src/d/file.ts"]);
	});

	it("says what it allows in vain", () => {
		const files = new Map([
			...FILES,
			["src/keys/key-index.ts", ""],
			["src/keys/key-owners.ts", 'import "../db/schema/brands.ts";\nimport "../lib/time.ts";\n'],
		]);
		expect(findUnused(files)).toEqual(["src/keys imports nothing of src/db", "src/keys does not import drizzle-orm"]);
	});

	it("is printed between the markers of the page, and only there", () => {
		const page = readFileSync(PAGE, "utf8");
		const old = page.replace(printParts(), "| an | old | table |");
		expect(old).not.toBe(page);
		expect(printInto(old)).toBe(page);
		expect(() => printInto("# A page\n")).toThrow(PAGE);
	});
});
